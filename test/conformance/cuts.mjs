#!/usr/bin/env node
// Cuts the readings of running and just finished turns at random bytes, resumes them, and lets
// every package's own reader judge each complete response against the uncut one.
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chosen, loadReader } from './lib/clients.mjs';
import { difference, plain } from './lib/message.mjs';
import { dataOf, readState, withoutComments } from './lib/sse.mjs';
import { http, start } from './lib/server.mjs';

const USAGE = `usage: node cuts.mjs [options]
  --cuts N          resumes to try (default 1000)
  --kills N         kill the gateway so often in the middle of turns, start it again on its data, and go on (default 0)
  --binary F        the gateway to start (default ../../bin/tributary); or --url U --token T
  --prompt P        what the demo agent is asked, repeatable, taken in turn (default slow and all)
  --turns N         turns at the same time (default 10); the resumes are spread over them
  --after MS        go on resuming so long after the end of a turn (default 3000, under 60000)
  --client C        only these readers, repeatable
  --profile V       the ?client= of every request (default none)
  --seed N          repeats the same choice of moments and bytes
Exit status 0 when all are equal, 1 otherwise, 2 on bad usage.`;

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const sleep = ms => new Promise(r => setTimeout(r, ms));

// mulberry32: the same seed gives the same cuts.
function dice(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Reads a response to its end; or loses the line after so many bytes or milliseconds, and returns null.
// The list `seen` gets the bytes that came before the cut. dying() reports whether the connection may break by itself.
async function read(url, init, { bytes = Infinity, ms, seen = [], dying = () => false } = {}) {
  const line = new AbortController();
  const late = ms === undefined ? null : setTimeout(() => line.abort(), ms);
  try {
    const res = await fetch(url, { ...init, signal: line.signal });
    if (res.status !== 200) throw new Error(`${init?.method ?? 'GET'} answered ${res.status}: ${(await res.text()).slice(0, 200)}`);
    let size = 0;
    for await (const piece of res.body) {
      seen.push(piece);
      size += piece.byteLength;
      if (size >= bytes) {
        line.abort();
        return null;
      }
    }
    return Buffer.concat(seen);
  } catch (e) {
    if (line.signal.aborted || dying()) return null;
    throw e;
  } finally {
    clearTimeout(late);
  }
}

// One turn of its own session: the uncut POST, and share cuts spread over its life.
async function oneTurn({ site, prompt, share, random, after, query }) {
  const id = randomUUID(),
    began = Date.now();
  const state = { over: false, length: 0, size: 0 };
  const seen = [];
  const uncut = read(
    `${site.base}/api/chat${query}`,
    {
      method: 'POST',
      headers: { ...site.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        id,
        trigger: 'submit-message',
        messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: prompt }] }],
      }),
    },
    { seen },
  );
  uncut.then(
    b => Object.assign(state, { over: true, length: Date.now() - began, size: b.length }),
    () => {
      state.over = true;
    },
  );
  while (!seen.length && !state.over) await sleep(5); // until there is a turn, there is nothing to resume
  const stream = `${site.base}/api/chat/${id}/stream${query}`,
    init = { headers: site.headers };
  const bodies = [],
    broken = [];
  let cuts = 0,
    running = 0;
  const resume = async () => {
    const live = !state.over;
    try {
      for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
        // Some lose the line at a byte, some at a moment; small numbers often, so that heads are cut as well as tails.
        const at =
          random() < 0.6 ? { bytes: 1 + Math.floor(random() ** 2 * (state.size || 40000)), ms: 3000 } : { ms: random() ** 2 * 2000 };
        if ((await read(stream, init, at)) === null) cuts++;
        await sleep(random() * 30);
      }
      bodies.push(await read(stream, init));
      if (live) running++;
    } catch (e) {
      broken.push(e.message);
    }
  };
  // The first half starts while the turn runs; its length is learned as it goes.
  const trials = [];
  const first = Math.ceil(share * 0.6);
  const pace = 8000 / first;
  while (trials.length < first && !state.over) {
    trials.push(resume());
    await sleep(random() * 2 * Math.min(pace, 100));
  }
  const reference = await uncut;
  const left = share - trials.length;
  for (let i = 0; i < left; i++) {
    trials.push(resume());
    await sleep(random() * 2 * (after / Math.max(1, left)));
  }
  await Promise.all(trials);
  return { id, prompt, reference, bodies, broken, cuts, running, length: state.length };
}

// One turn whose gateway dies: its readers have seen something, and resume when there is a gateway again. The reference is
// what it says then. Everything that was seen before must be its beginning, except for the last words of an open part.
async function killedTurn({ place, prompt, share, random, query }) {
  const id = randomUUID(),
    seen = [],
    bodies = [],
    broken = [];
  let notice;
  const begun = new Promise(r => {
    notice = r;
  });
  place.begun.push(begun);
  const stream = () => `${place.site.base}/api/chat/${id}/stream${query}`;
  const reading = async (url, init, cut = {}) => {
    const pieces = [];
    const noticed = setInterval(() => {
      if (Buffer.concat(pieces).includes('data: ')) notice();
    }, 5);
    try {
      await read(url, init, { ...cut, seen: pieces, dying: () => place.dead });
    } catch (e) {
      broken.push(e.message);
    }
    clearInterval(noticed);
    notice();
    seen.push(Buffer.concat(pieces));
  };
  const { base, headers } = place.site;
  const first = reading(`${base}/api/chat${query}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      trigger: 'submit-message',
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: prompt }] }],
    }),
  });
  await begun;
  const trials = Array.from({ length: share }, async () => {
    await sleep(random() * 500);
    if (!place.dead) await reading(stream(), { headers }, random() < 0.5 ? { bytes: 1 + Math.floor(random() ** 2 * 20000) } : {});
    await place.again;
    await sleep(random() * 100);
    try {
      bodies.push(await read(stream(), { headers: place.site.headers }));
    } catch (e) {
      broken.push(e.message);
    }
  });
  await first;
  await place.again;
  let reference = Buffer.alloc(0);
  try {
    reference = await read(stream(), { headers: place.site.headers });
  } catch (e) {
    broken.push(e.message);
  }
  await Promise.all(trials);
  const whole = contentOf(reference);
  for (const s of seen) {
    const fault = contradicts(contentOf(s), whole);
    if (fault) broken.push(`what was seen is not how it goes on after the restart: ${fault}`);
  }
  return { id, prompt, reference, bodies, broken, cuts: seen.length, running: 0, length: 0, killed: true };
}

// The content of the complete frames of a stream, without the borders of its deltas. A partial frame at the end does not count.
function contentOf(bytes) {
  const steps = [],
    texts = new Map(),
    ended = new Set();
  for (const data of dataOf(withoutComments(bytes).replace(/[^\n]*$/, ''))) {
    if (data === '[DONE]') {
      steps.push(data);
      continue;
    }
    const c = JSON.parse(data),
      part = `${c.type.replace(/-(delta|end)$/, '')} ${c.id ?? c.toolCallId}`;
    if (c.type.endsWith('-delta')) texts.set(part, (texts.get(part) ?? '') + (c.delta ?? c.inputTextDelta));
    else if (!c.transient && !c.preliminary) steps.push(data);
    if (c.type.endsWith('-end')) ended.add(part);
    if (c.type === 'tool-input-available') ended.add(`tool-input ${c.toolCallId}`);
  }
  return { steps, texts, ended };
}

// After a crash all is there, but for the end of a part that was not finished.
function contradicts(seen, now) {
  const step = seen.steps.findIndex((s, i) => s !== now.steps[i]);
  if (step >= 0) return `frame ${step} was ${seen.steps[step].slice(0, 200)}, is ${String(now.steps[step]).slice(0, 200)}`;
  for (const [part, text] of seen.texts) {
    const is = now.texts.get(part) ?? '';
    if (!is.startsWith(text) && (seen.ended.has(part) || !text.startsWith(is)))
      return `${part} was ${JSON.stringify(text.slice(-100))}, is ${JSON.stringify(is.slice(-100))}`;
  }
  return '';
}

// Turns that all run while the gateway is killed.
async function killedWave(server, { cuts, turns, prompts, random, query, seed }) {
  const place = { site: http(server), dead: false, begun: [] };
  let goOn;
  place.again = new Promise(r => {
    goOn = r;
  });
  const all = Promise.all(
    Array.from({ length: turns }, (_, i) =>
      killedTurn({
        place,
        prompt: prompts[i % prompts.length],
        share: Math.floor(cuts / turns) + (i < cuts % turns ? 1 : 0),
        random: dice(seed + i),
        query,
      }),
    ),
  );
  await Promise.all(place.begun); // a turn without any byte at a client may be lost
  await sleep(random() * 1000);
  place.dead = true;
  await server.restart('SIGKILL');
  goOn();
  return all;
}

async function judge(turn, readers, kept) {
  const seen = new Map(),
    out = { equal: 0, different: 0, distinct: 0, notes: [] };
  const want = new Map();
  const state = async (r, body) => {
    const { message, error } = await readState(r.ai, body);
    if ((error && !turn.killed) || !message) throw error ?? new Error('the stream holds no message');
    return plain({ message, error: error?.message });
  };
  for (const r of readers) want.set(r.name, await state(r, turn.reference));
  for (const body of turn.bodies) {
    // A reader depends on nothing but the data frames: the same frames need reading once.
    const frames = withoutComments(body),
      key = createHash('sha256').update(frames).digest('hex');
    if (!seen.has(key)) {
      out.distinct++;
      let note = null;
      for (const r of readers) {
        let got;
        try {
          got = await state(r, body);
        } catch (e) {
          note = `${r.name} throws: ${e.message}`;
          break;
        }
        const d = difference(got, want.get(r.name));
        if (d) {
          note = `${r.name}: ${d}`;
          break;
        }
      }
      if (!note && !body.includes('data: [DONE]')) note = 'the response does not end in [DONE]';
      if (note) {
        const file = path.join(kept, `${turn.id}-${out.distinct}.sse`);
        fs.mkdirSync(kept, { recursive: true });
        fs.writeFileSync(file, body);
        fs.writeFileSync(path.join(kept, `${turn.id}-uncut.sse`), turn.reference);
        out.notes.push(`${note} (${file})`);
      }
      seen.set(key, note === null);
    }
    out[seen.get(key) ? 'equal' : 'different']++;
  }
  return out;
}

async function main() {
  let o, names;
  try {
    const one = { type: 'string' };
    o = parseArgs({
      options: {
        cuts: one,
        kills: one,
        binary: one,
        url: one,
        token: one,
        turns: one,
        after: one,
        profile: one,
        seed: one,
        prompt: { type: 'string', multiple: true },
        client: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
    }).values;
    if (o.help) {
      console.log(USAGE);
      return 0;
    }
    names = chosen(o.client);
  } catch (e) {
    console.error(`${e.message}\n${USAGE}`);
    return 2;
  }
  const cuts = Number(o.cuts ?? 1000),
    kills = Number(o.kills ?? 0),
    turns = Math.min(Number(o.turns ?? 10), cuts),
    prompts = o.prompt ?? ['slow', 'all'];
  const seed = Number(o.seed ?? Math.floor(Math.random() * 2 ** 31)),
    after = Math.min(Number(o.after ?? 3000), 55000);
  if (o.url && kills) {
    console.error('--kills needs a gateway of its own, so not --url');
    return 2;
  }
  const server = o.url
    ? { base: new URL(o.url).origin, token: o.token, stop: async () => {} }
    : await start(o.binary ?? path.join(HERE, '../../bin/tributary'));
  try {
    const site = http(server),
      readers = await Promise.all(names.map(loadReader));
    const query = o.profile ? `?client=${o.profile}` : '';
    const perKill = Math.floor(cuts / (kills + 1)),
      calm = cuts - kills * perKill;
    const done = await Promise.all(
      Array.from({ length: turns }, (_, i) =>
        oneTurn({
          site,
          prompt: prompts[i % prompts.length],
          share: Math.floor(calm / turns) + (i < calm % turns ? 1 : 0),
          random: dice(seed + i),
          after,
          query,
        }),
      ),
    );
    const lengths = done.map(d => d.length);
    for (let k = 1; k <= kills; k++) {
      done.push(...(await killedWave(server, { cuts: perKill, turns, prompts, random: dice(seed - k), query, seed: seed + k * turns })));
    }
    const kept = path.join(os.tmpdir(), `tributary-cuts-${seed}`);
    const sum = { equal: 0, different: 0, distinct: 0, broken: 0, cuts: 0, running: 0 };
    for (const turn of done) {
      const r = await judge(turn, readers, kept);
      sum.equal += r.equal;
      sum.different += r.different;
      sum.distinct += r.distinct;
      sum.broken += turn.broken.length;
      sum.cuts += turn.cuts;
      sum.running += turn.running;
      for (const note of [...r.notes, ...new Set(turn.broken)]) console.log(`DIFFERENT ${turn.prompt}: ${note}`);
      if (!turn.bodies.length) {
        console.log(`DIFFERENT ${turn.prompt}: no resume was answered`);
        sum.broken++;
      }
    }
    const different = sum.different + sum.broken;
    console.log(
      `${done.length} turns (${prompts.join(', ')}; ${Math.min(...lengths)} to ${Math.max(...lengths)} ms undisturbed), ${kills} kills, ${sum.cuts} readings cut, ${sum.running} resumes began while the turn ran, ${sum.distinct} distinct responses read by ${readers.map(r => r.name).join(' ')}, seed ${seed}`,
    );
    console.log(`${sum.equal} passed, ${different} failed, 0 skipped`);
    return different || sum.equal + different !== cuts ? 1 : 0;
  } finally {
    await server.stop();
  }
}

process.exitCode = await main().catch(e => {
  console.error(e.message);
  return 1;
});
setTimeout(() => process.exit(), 500).unref();
