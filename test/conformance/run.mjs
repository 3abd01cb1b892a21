#!/usr/bin/env node
// Runs every case with every real client, both ways, against the real gateway, and prints a table.
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AGENTS } from './lib/agents.mjs';
import { openWindow, visit } from './lib/browser.mjs';
import { chosen, load } from './lib/clients.mjs';
import { WAYS } from './lib/drive.mjs';
import { expectedFailures, judge } from './lib/expected.mjs';
import { endAll } from './lib/owned.mjs';
import { full, inTurn, others } from './lib/plan.mjs';
import { progress } from './lib/progress.mjs';
import { http } from './lib/server.mjs';
import { table } from './lib/table.mjs';
import { Trial } from './lib/trial.mjs';

const USAGE = `usage: node run.mjs [options]
  --agent A         demo (default); agentops: two gateways, one as the agent of the other; claude, codex, gemini, …: a real agent with
                    a scripted model, which needs Go and npm
  --binary F        the gateway to start (default ../../bin/tributary)
  --url U --token T a gateway that runs already, instead of --binary; only with the demo agent
  --command F       with a real agent: this command instead of the pinned one
  --once            with the demo agent: each case × client once, ways and profiles in turn
  --others          with the demo agent: the trials that --once leaves out
  --full            with any other agent: every way and profile, not each case × client once
  --cases D         the cases of this folder instead of the agent's
  --case C          only these cases, repeatable (default all of the agent's)
  --client C        only these clients: 5.0.0 … 7.0.173, or a major; repeatable
  --way W           only chat (the Chat class) or hook (useChat); repeatable
  --profile P       only none (no ?client=) or own (?client=<major>); repeatable
  --jobs N          trials at the same time (default 16: more make each one late, for they share a process; 4 with a real agent)
  --later           also the cases marked later: what the gateway does not do yet
  --verbose         also print what the clients write to the console
  --list            print the cases
Where TRIBUTARY_TEST_DATABASES is set, the gateways keep their logs in databases that it hands out: make conformance-postgres does that. With TRIBUTARY_TEST_GATEWAYS=2 two gateways share each database, and requests go to them in turn.
Standard error tells how far the run is. The last line says "N passed, N failed, N skipped"; exit status 0 when nothing failed, 1 otherwise, 2 on bad usage.`;

const PROFILES = ['none', 'own'];
const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);

async function loadCases(folder, only) {
  const names = fs
    .readdirSync(path.join(HERE, folder))
    .filter(f => f.endsWith('.mjs'))
    .map(f => f.slice(0, -4));
  const unknown = (only ?? []).filter(c => !names.includes(c));
  if (unknown.length) throw new Error(`no case ${unknown.join(', ')}: choose from ${names.join(', ')}`);
  const cases = await Promise.all(
    names
      .map(async (name, number) => ({ name, number, ...(await import(`./${folder}/${name}.mjs`)).default }))
      .filter((_, i) => !only?.length || only.includes(names[i])),
  );
  return cases.sort((a, b) => (a.order ?? 50) - (b.order ?? 50) || a.name.localeCompare(b.name));
}

async function main() {
  let o, agent, cases, clients;
  try {
    const many = { type: 'string', multiple: true },
      one = { type: 'string' };
    o = parseArgs({
      options: {
        agent: one,
        command: one,
        once: { type: 'boolean' },
        others: { type: 'boolean' },
        full: { type: 'boolean' },
        binary: one,
        url: one,
        token: one,
        jobs: one,
        cases: one,
        case: many,
        client: many,
        way: many,
        profile: many,
        expected: one,
        list: { type: 'boolean' },
        verbose: { type: 'boolean' },
        later: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
    if (o.help) {
      console.log(USAGE);
      return 0;
    }
    agent = AGENTS[o.agent ?? 'demo'];
    if (!agent) throw new Error(`no agent ${o.agent}: choose from ${Object.keys(AGENTS).join(', ')}`);
    if (o.url && agent !== AGENTS.demo) throw new Error(`--agent ${o.agent} starts the gateway itself: leave --url out`);
    for (const [flag, values, known] of [
      ['way', o.way, WAYS],
      ['profile', o.profile, PROFILES],
    ]) {
      const unknown = (values ?? []).filter(v => !known.includes(v));
      if (unknown.length) throw new Error(`no ${flag} ${unknown.join(', ')}: choose from ${known.join(', ')}`);
    }
    if (o.jobs !== undefined && !(Number(o.jobs) >= 1)) throw new Error('--jobs needs a number from 1 on');
    cases = await loadCases(o.cases ?? agent.cases, o.case);
    clients = chosen(o.client);
  } catch (e) {
    console.error(`${e.message}\n${USAGE}`);
    return 2;
  }
  if (o.list) {
    for (const c of cases) console.log(`${c.name.padEnd(24)} ${c.about}${c.later ? ` (later: ${c.later})` : ''}`);
    return 0;
  }
  const ways = WAYS.filter(w => !o.way || o.way.includes(w));
  const profiles = PROFILES.filter(p => !o.profile || o.profile.includes(p));

  const known = expectedFailures(o.expected ?? (agent.expected && path.join(HERE, agent.expected)));
  const all = await Promise.all(clients.map(load));
  const binary = o.binary ?? path.join(HERE, '../../bin/tributary');
  const server = o.url
    ? { base: new URL(o.url).origin, token: o.token, stop: async () => {}, stderr: () => '', alive: () => true }
    : await agent.start(binary, { command: o.command });
  const closeWindow = openWindow();
  process.on('unhandledRejection', unhandled);
  const said = o.verbose ? () => 0 : hush();
  try {
    await visit(server.base, server.token);
    const sparse = o.once || (agent.inTurn && !o.full);
    const plan = (sparse ? inTurn : o.others ? others : full)(cases, all, ways, profiles);
    const another = options =>
      o.url
        ? Promise.reject(new Error('--url has one gateway only: leave this case out'))
        : agent.start(binary, { command: o.command, ...options });
    const site = { ...http(server), work: server.work, said: server.said, far: server.far, another };
    const results = await runAll(plan, {
      site,
      known,
      later: o.later || o.case?.length > 0,
      jobs: Number(o.jobs ?? agent.jobs),
      alive: server.alive,
    });
    return report(results, {
      known,
      clients,
      ways,
      sparse,
      whole: !o.case && !o.cases && !o.client && !o.way && !o.profile && !sparse && !o.others,
      server,
      said,
    });
  } finally {
    await server.stop();
    await closeWindow();
  }
}

// A promise that nobody handles is an await that a case forgot, or an error that a client leaves to the page. Either way its trial fails.
const trials = new AsyncLocalStorage(),
  strays = [];
function unhandled(e) {
  const trial = trials.getStore();
  (trial?.failures ?? strays).push({
    check: 'handles every promise',
    detail: String(e?.stack ?? e)
      .split('\n')
      .slice(0, 2)
      .join(' '),
  });
}

// The clients log errors of their own to the console; that is no news where the case expects them.
function hush() {
  let lines = 0;
  console.error = console.warn = () => {
    lines++;
  };
  return () => lines;
}

async function runAll(plan, { site, known, later, jobs, alive }) {
  const results = new Array(plan.length),
    shared = new Map(),
    far = progress(plan.length);
  let next = 0;
  const work = async () => {
    while (next < plan.length) {
      const i = next++,
        { testCase, client, way, profile } = plan[i];
      const at = { case: testCase.name, client: client.name, way, profile };
      const reason = testCase.skip?.({ client, way, profile }) ?? (testCase.later && !later ? `comes later: ${testCase.later}` : null);
      const trial = new Trial({ site, client, way, profile, shared });
      if (reason) trial.skipped = reason;
      else if (!alive()) trial.failures.push({ check: 'runs to its end', detail: 'the gateway is not running any more' });
      else await trials.run(trial, () => trial.run(testCase));
      const verdict = () => ({ ...at, ms: trial.ms, ...judge(trial, known.get(`${at.case} ${at.client} ${at.way} ${at.profile}`)) });
      results[i] = verdict;
      far.tick(`${verdict().outcome}: ${at.case} ${at.client} ${way} ${profile}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  far.done();
  await new Promise(r => setTimeout(r, 100)); // a promise may fail after its trial is over
  return results.map(verdict => verdict());
}

function report(results, { known, clients, ways, sparse, whole, server, said }) {
  const of = outcome => results.filter(r => r.outcome === outcome);
  let failed = of('failed').length;
  console.log(table(results, clients, ways, sparse));
  console.log(
    `\n${sparse ? 'each case ran once with each client; the cell names the way and the profile' : `each cell: ${ways.join('/')}`}; known = an expected failure of the client itself\n`,
  );
  const reasons = new Map();
  for (const r of of('failed')) {
    const key = `${r.case}\0${r.why}`;
    if (!reasons.has(key)) reasons.set(key, []);
    reasons.get(key).push(`${r.client}/${r.way}/${r.profile}`);
  }
  for (const [key, who] of reasons) {
    const [name, why] = key.split('\0');
    console.log(`FAIL ${name} (${who.join(' ')})\n      ${why}`);
  }
  for (const { check, detail } of strays) {
    failed++;
    console.log(`FAIL no case (${check})\n      ${detail}`);
  }
  if (whole) {
    const run = new Set(results.map(r => `${r.case} ${r.client} ${r.way} ${r.profile}`));
    for (const key of known.keys())
      if (!run.has(key)) {
        failed++;
        console.log(`FAIL ${key} stands in expected-failures.json, but no such trial exists`);
      }
  }
  if (failed && server.stderr()) console.log(`the end of the gateway's log:\n${server.stderr()}`);
  if (said()) console.log(`the clients wrote ${said()} lines to console.error or console.warn; --verbose prints them`);
  const expected = of('expected').length,
    passed = of('passed').length + expected;
  if (expected) console.log(`${expected} of the passed failed exactly as expected-failures.json says`);
  console.log(`${passed} passed, ${failed} failed, ${of('skipped').length} skipped`);
  return failed ? 1 : 0;
}

process.exitCode = await main().catch(e => {
  process.stderr.write(`${e.stack}\n`);
  return 1;
});
await endAll(); // processes of a failed start
setTimeout(() => process.exit(), 500).unref();
