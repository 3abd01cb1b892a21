// A stand-in for the gateway, so that the harness can be tried without it. Run as the binary is:
// node selftest/gateway.mjs serve --listen 127.0.0.1:0 … ; FAKE_SLOW sets the length of a slow turn in ms, FAKE_BREAK names a fault,
// FAKE_PAUSE=1 ends the response where a person is asked, instead of holding it open.
import http from 'node:http';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as ai from 'ai-7.0.173';
import { script } from './script.mjs';

const SLOW = Number(process.env.FAKE_SLOW ?? 10000),
  BREAK = process.env.FAKE_BREAK ?? '',
  PAUSE = process.env.FAKE_PAUSE === '1';
const flag = name => process.argv[process.argv.indexOf(name) + 1];
const token = process.argv.includes('--auth') && flag('--auth') === 'token' ? randomBytes(8).toString('hex') : null;
const sessions = new Map();

function sessionOf(id) {
  if (!sessions.has(id))
    sessions.set(id, {
      id,
      agent: 'demo',
      title: '',
      turns: [],
      users: [],
      queue: Promise.resolve(),
      tabs: new Set(),
      created_at: new Date().toISOString(),
    });
  return sessions.get(id);
}

// ------------------------------------------------------------------- a turn

function begin(session, user) {
  const turn = {
    id: randomUUID(),
    messageId: `msg-${randomUUID()}`,
    user,
    log: [],
    over: false,
    paused: null,
    stopped: false,
    wake: new Set(),
  };
  turn.say = chunk => {
    turn.log.push(chunk);
    for (const w of turn.wake) w();
  };
  session.turns.push(turn);
  session.queue = session.queue.then(() => play(session, turn));
  return turn;
}

const tell = (session, event) => {
  for (const tab of session.tabs) tab.write(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
};
const news = (turn, state) => ({ type: 'turn', turn: turn.id, state, message_id: turn.messageId });

async function play(session, turn) {
  turn.running = true;
  if (BREAK !== 'events') tell(session, news(turn, 'running'));
  if (BREAK !== 'no-start') turn.say({ type: 'start', messageId: turn.messageId, messageMetadata: { turn: turn.id } });
  const text = turn.user.parts
    .filter(p => p.type === 'text')
    .map(p => p.text)
    .join('');
  session.title ||= text.slice(0, 40);
  let open = null,
    stepOpen = false,
    failed = false,
    denied = null;
  for (const [wait, chunk] of script(text, n => `${turn.id}-call-${n}`, SLOW)) {
    if (wait && !turn.stopped) await sleep(wait);
    if (turn.stopped) break;
    if (chunk.ask) {
      stepOpen = false;
      if ((await pause(turn, chunk)) === 'deny') {
        turn.say({ type: 'tool-output-denied', toolCallId: chunk.toolCallId });
        denied = chunk.toolCallId;
      }
      continue;
    }
    if (denied && chunk.toolCallId === denied) continue;
    if (chunk.type === 'text-start') open = chunk.id;
    if (chunk.type === 'text-end') open = null;
    if (chunk.type === 'start-step') stepOpen = true;
    if (chunk.type === 'finish-step') stepOpen = false;
    if (chunk.type === 'error') failed = true;
    turn.say(chunk);
  }
  if (turn.stopped) {
    if (open) turn.say({ type: 'text-end', id: open });
    if (stepOpen) turn.say({ type: 'finish-step' });
    turn.say({ type: 'abort' });
  }
  turn.say({
    type: 'finish',
    ...(turn.stopped ? { messageMetadata: { outcome: 'canceled' } } : failed ? { messageMetadata: { outcome: 'failed' } } : {}),
  });
  turn.running = false;
  turn.over = true;
  for (const w of turn.wake) w();
  if (BREAK !== 'events') tell(session, news(turn, 'ended'));
}

async function pause(turn, { ask, toolCallId }) {
  const answered = new Promise(r => {
    turn.paused = { ask, id: toolCallId, answer: r };
  });
  const five = turn.profile === '5';
  if (ask === 'question')
    turn.say({
      type: 'tool-input-available',
      toolCallId,
      toolName: 'AskUser',
      input: { question: 'Which colour?', options: ['red', 'blue'] },
    });
  else if (five)
    turn.say({
      type: 'tool-input-available',
      toolCallId: `${toolCallId}-ask`,
      toolName: 'AskPermission',
      input: { request_id: toolCallId, options: ['allow', 'deny'] },
    });
  else turn.say({ type: 'tool-approval-request', toolCallId, approvalId: toolCallId });
  turn.say({ type: 'finish-step' });
  turn.say({ type: 'pause' });
  const answer = await answered;
  turn.paused = null;
  if (turn.stopped) return answer;
  if (ask === 'question') {
    turn.say({ type: 'tool-output-available', toolCallId, output: answer });
    return answer;
  }
  if (five) turn.say({ type: 'tool-output-available', toolCallId: `${toolCallId}-ask`, output: answer });
  return answer;
}

// Writes the turn from its start to its end, or to where it waits now.
async function follow(turn, res, resumed, from = 0) {
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-accel-buffering': 'no',
  });
  res.write(': stream-open\n\n');
  let gone = false,
    wake = () => {};
  const ping = () => wake();
  turn.wake.add(ping);
  res.on('close', () => {
    gone = true;
    wake();
  });
  let i = resumed && BREAK === 'tail' ? turn.log.length : from;
  if (from) res.write(`data: ${JSON.stringify({ type: 'start', messageId: turn.messageId })}\n\n`);
  while (!gone) {
    const woken = new Promise(r => {
      wake = r;
    });
    while (i < turn.log.length && !gone) {
      const chunk = turn.log[i++];
      if (chunk.type === 'pause') {
        if (PAUSE && turn.paused && i === turn.log.length) {
          res.write('data: {"type":"finish"}\n\ndata: [DONE]\n\n');
          gone = true;
        }
        continue;
      }
      res.write(
        `data: ${JSON.stringify(BREAK === 'tool-error' && chunk.type === 'tool-output-error' ? { type: 'error', errorText: chunk.errorText } : chunk)}\n\n`,
      );
    }
    if (gone || (turn.over && i === turn.log.length)) break;
    await woken;
  }
  turn.wake.delete(ping);
  if (turn.over) res.write('data: [DONE]\n\n');
  res.end();
}

// A POST that ends in an assistant message answers what its turn is paused on, and gets the rest.
function goOn(session, message, res) {
  const turn = session.turns.find(t => t.messageId === message.id),
    open = turn?.paused;
  const part =
    open &&
    message.parts.find(
      p =>
        (p.approval?.id === open.id && p.state === 'approval-responded') ||
        (p.type === 'tool-AskUser' && p.toolCallId === open.id && p.state === 'output-available'),
    );
  if (!part) return plain(res, 409, 'Nothing here waits for this answer.');
  const from = turn.log.length;
  open.answer(part.approval ? (part.approval.approved ? 'allow' : 'deny') : part.output);
  return follow(turn, res, false, from);
}

async function history(session) {
  const out = [];
  for (const turn of session.turns) {
    out.push(turn.user);
    const chunks = turn.log.filter(c => c.type !== 'pause' && c.type !== 'error');
    if (BREAK === 'history' && chunks.length)
      chunks.splice(
        chunks.findLastIndex(c => c.type === 'text-delta'),
        1,
      );
    let message;
    for await (const m of ai.readUIMessageStream({ stream: ReadableStream.from(chunks) })) message = m;
    for (const part of message?.parts ?? [])
      if (part.approval && part.state.startsWith('output-')) part.approval.approved = part.state !== 'output-denied'; // no chunk tells a reader of an answer from the side
    if (message?.parts.length) out.push(structuredClone(message));
  }
  return out;
}

// --------------------------------------------------------------------- HTTP

const read = async req => {
  let s = '';
  for await (const b of req) s += b;
  return s ? JSON.parse(s) : {};
};
const json = (res, status, v) => {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(JSON.stringify(v));
};
const plain = (res, status, s) => {
  res.writeHead(status, { 'content-type': 'text/plain' });
  res.end(s);
};
const known = (req, url) =>
  !token ||
  req.headers.authorization === `Bearer ${token}` ||
  (req.headers.cookie ?? '').includes(`t=${token}`) ||
  url.searchParams.get('token') === token;
const stateOf = s => {
  const t = s.turns.findLast(x => x.running);
  return {
    id: s.id,
    agent: s.agent,
    title: s.title,
    created_at: s.created_at,
    updated_at: s.created_at,
    state: t ? (t.paused ? 'paused' : 'running') : 'idle',
    turn: t?.id ?? null,
  };
};

async function answer(req, res) {
  // The first releases glue the resume path behind the query of their api.
  const url = new URL(req.url.replace(/^(\/api\/chat)(\?.*?)(\/[^/]+\/stream)$/, '$1$3$2'), 'http://x');
  const [, api, kind, rawId, what, sub] = url.pathname.split('/');
  const id = decodeURIComponent(rawId ?? '');
  if (!known(req, url)) return plain(res, 401, 'Open the page with its token first.');
  if (url.pathname === '/') {
    res.writeHead(302, { location: '/', 'set-cookie': `t=${token}; HttpOnly; SameSite=Strict` });
    return res.end();
  }
  if (api !== 'api') return plain(res, 404, 'Nothing is here.');
  if (kind === 'agents') return json(res, 200, { agents: [{ name: 'demo' }, { name: 'echo' }] });
  if (kind === 'chat' && !rawId && req.method === 'POST') {
    const agent = url.searchParams.get('agent');
    if (agent && !['demo', 'echo'].includes(agent)) return plain(res, 404, `There is no agent ${agent} here; tributary agents lists them.`);
    const body = await read(req),
      user = body.message ?? body.messages.at(-1);
    const session = sessionOf(body.id);
    if (user.role === 'assistant') return goOn(session, user, res);
    const known = session.turns.findIndex(t => t.user.id === user.id);
    if (known >= 0) session.turns.length = known; // regenerate, or an edit
    const turn = begin(session, user);
    turn.profile = url.searchParams.get('client');
    return follow(turn, res, false);
  }
  if (kind === 'chat' && what === 'stream') {
    const turn = sessions.get(id)?.turns.find(t => t.running) ?? sessions.get(id)?.turns.findLast(t => t.over);
    if (!turn) {
      res.writeHead(204);
      return res.end();
    }
    return follow(turn, res, true);
  }
  if (kind === 'chat' && what === 'stop' && req.method === 'POST') {
    const turn = sessions.get(id)?.turns.findLast(t => t.running);
    if (turn) {
      turn.stopped = true;
      turn.paused?.answer('stopped');
      while (!turn.over) await sleep(2);
    }
    return json(res, 200, { turn: turn?.id ?? null, stopped: !!turn });
  }
  if (kind !== 'sessions') return plain(res, 404, 'Nothing is here.');
  if (!rawId) return json(res, 200, { sessions: [...sessions.values()].map(stateOf) });
  const session = sessions.get(id);
  if (!session) return json(res, 404, { error: 'There is no such session.', code: 'unknown_session' });
  if (!what && req.method === 'DELETE') {
    sessions.delete(id);
    res.writeHead(204);
    return res.end();
  }
  if (!what) return json(res, 200, stateOf(session));
  if (what === 'messages') return json(res, 200, await history(session));
  if (what === 'events') {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    session.tabs.add(res);
    res.on('close', () => session.tabs.delete(res));
    return res.write(
      `id: 1\ndata: ${JSON.stringify({ type: 'session', turns: session.turns.filter(t => t.running).map(t => news(t, 'running')) })}\n\n`,
    );
  }
  if (what === 'permissions' || what === 'questions') {
    const turn = session.turns.findLast(t => t.paused);
    if (turn?.paused.id !== decodeURIComponent(sub)) return json(res, 404, { error: 'There is no such request.', code: 'unknown_request' });
    const body = await read(req);
    turn.paused.answer(what === 'questions' ? body.value : body.approved ? 'allow' : 'deny');
    await sleep(1);
    return json(res, 200, {});
  }
  return plain(res, 404, 'Nothing is here.');
}

const server = http.createServer((req, res) => {
  answer(req, res).catch(e => {
    res.destroy(e);
  });
});
server.listen(Number(flag('--listen').split(':')[1]), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}/${token ? `?token=${token}` : ''}`),
);
process.on('SIGTERM', () => process.exit(0));
