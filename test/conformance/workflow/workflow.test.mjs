// The stock WorkflowChatTransport of @ai-sdk/workflow against the real gateway: it counts chunks, and after a cut asks for those that it lacks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import { WorkflowChatTransport } from '@ai-sdk/workflow/client';
import * as ai from 'ai';
import { anonymous, difference, textOf, toolsOf } from '../lib/message.mjs';
import { http, start } from '../lib/server.mjs';
import { BINARY, sleep, until } from '../lib/site.mjs';

let server, side;
before(async () => {
  server = await start(BINARY, {
    yaml: 'agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 12ms}\n',
  });
  side = http(server);
  console.error = () => {}; // the transport writes each cut there
});
after(() => server.stop());

/**
 * A connection to the gateway as a page has it: {fetch, asked, answers}, with the address and the status of each request. cut(n): after how
 * many chunks, or before which type of chunk, the n-th response breaks off; 0 for never. What the gateway has sent by then and the page has not read is lost.
 * quietly: the response ends as if it were whole, as some proxies end it.
 */
function network(cut = () => 0, quietly = false) {
  const asked = [],
    answers = [];
  const lossy = async (url, { headers, ...init }) => {
    const n = asked.push(`${init.method ?? 'GET'} ${url.replace(server.base, '')}`);
    const abort = new AbortController();
    init.signal?.addEventListener('abort', () => abort.abort());
    const res = await fetch(url, { ...init, headers: { ...headers, ...side.headers }, signal: abort.signal });
    answers.push(res.status);
    const limit = cut(n);
    let left = limit;
    if (!limit || !res.ok) return res;
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader(),
      out = new TextEncoder();
    let buffered = '';
    const body = new ReadableStream({
      async pull(to) {
        for (;;) {
          const end = buffered.indexOf('\n\n');
          if (end < 0) {
            const { done, value } = await reader.read();
            if (done) {
              to.close();
              return;
            }
            buffered += value;
            continue;
          }
          const event = buffered.slice(0, end + 2),
            chunk = /^data: \{"type":"([^"]+)"/m.exec(event);
          if (chunk && (chunk[1] === limit || left-- === 0)) {
            abort.abort();
            if (quietly) to.close();
            else to.error(new TypeError('network error'));
            return;
          }
          buffered = buffered.slice(end + 2);
          to.enqueue(out.encode(event));
          return;
        }
      },
    });
    return new Response(body, { status: res.status, headers: res.headers });
  };
  return { fetch: lossy, asked, answers };
}

/** A page with a chat of the session, which sends the answers of a person by itself. */
function open(id, { net = network(), messages = [], ...options } = {}) {
  const transport = Object.assign(
    new WorkflowChatTransport({
      api: `${server.base}/api/sessions/${id}/chat`,
      fetch: net.fetch,
      maxConsecutiveErrors: Infinity,
      ...options,
    }),
    { resumeStreamIsReplay: true },
  );
  const chat = new Chat({
    id,
    messages,
    transport,
    onError: e => {
      if (e.message.startsWith('Failed to fetch chat: 410')) setTimeout(() => chat.resumeStream());
    },
    sendAutomaticallyWhen: c =>
      ai.lastAssistantMessageIsCompleteWithToolCalls(c) || ai.lastAssistantMessageIsCompleteWithApprovalResponses(c),
  });
  return { chat, net };
}

async function session(agent = 'demo') {
  const id = randomUUID();
  assert.equal((await side.post('/api/sessions', { id, agent })).status, 201);
  return id;
}

const state = async id => (await side.get(`/api/sessions/${id}`)).json.state;
const over = async id => until('the turn is over', async () => (await state(id)) !== 'running');
const quiet = chat =>
  until(
    `the chat is ready; it is ${chat.status}: ${JSON.stringify(chat.lastMessage)}`,
    () => chat.status === 'ready' || chat.status === 'error',
  );
const begun = chat => until('the answer has begun', () => chat.lastMessage?.role === 'assistant' && textOf(chat.lastMessage));
const starts = net => net.asked.filter(a => a.startsWith('GET')).map(a => Number(/startIndex=(-?\d+)$/.exec(a)[1]));

/** Compares what is on the screen with the history, but for the numbers at the end and what the two write differently. */
async function sameInHistory(chat) {
  const last = (await side.history(chat.id, '7.0.112')).at(-1);
  assert.equal(chat.lastMessage.id, last.id);
  const of = m => ({ ...anonymous({ ...m, parts: m.parts.filter(p => p.type !== 'data-error') }) });
  assert.equal(
    difference(
      of(chat.lastMessage).parts.map(p => `${p.type} ${p.state ?? ''} ${p.text ?? ''}`),
      of(last).parts.map(p => `${p.type} ${p.state ?? ''} ${p.text ?? ''}`),
    ),
    null,
  );
}

describe('WorkflowChatTransport', { concurrency: 6 }, () => {
  test('text, then a tool', async () => {
    const { chat, net } = open(await session());
    await chat.sendMessage({ text: 'hello' });
    assert.equal(chat.error, undefined);
    await sameInHistory(chat);
    await chat.sendMessage({ text: 'tool' });
    assert.deepEqual(
      toolsOf(chat.lastMessage).map(p => p.state),
      ['output-available'],
    );
    assert.equal(chat.messages.length, 4);
    assert.deepEqual(starts(net), [], 'no response lacked its end');
    await sameInHistory(chat);
  });

  test('regenerate and edit, of which the requests say nothing', async () => {
    const id = await session(),
      { chat } = open(id);
    await chat.sendMessage({ text: 'hello' });
    await chat.regenerate();
    assert.equal((await side.history(id)).length, 2);
    await sameInHistory(chat);
    await chat.sendMessage({ text: 'tool', messageId: chat.messages[0].id });
    assert.equal(chat.messages.length, 2);
    assert.deepEqual((await side.history(id)).map(m => textOf(m)).at(0), 'tool');
    await sameInHistory(chat);
  });

  for (const approved of [true, false]) {
    test(`an approval: ${approved ? 'allowed' : 'denied'}`, async () => {
      const { chat, net } = open(await session());
      await chat.sendMessage({ text: 'approve' });
      const [asked] = toolsOf(chat.lastMessage).filter(p => p.state === 'approval-requested');
      assert.ok(asked, JSON.stringify(chat.lastMessage));
      await chat.addToolApprovalResponse({ id: asked.approval.id, approved });
      await until('the rest has come', () =>
        toolsOf(chat.lastMessage).every(p => p.state === (approved ? 'output-available' : 'output-denied')),
      );
      await quiet(chat);
      assert.equal(chat.error, undefined);
      assert.equal(chat.messages.length, 2);
      assert.deepEqual(starts(net), []);
      await sameInHistory(chat);
    });
  }

  test('a question', async () => {
    const { chat } = open(await session());
    await chat.sendMessage({ text: 'freely' });
    const question = toolsOf(chat.lastMessage).find(p => p.state === 'input-available');
    await chat.addToolOutput({ tool: 'AskUser', toolCallId: question.toolCallId, output: 'Old Father Rhine' });
    await until('the answer is shown', () => textOf(chat.lastMessage).includes('Old Father Rhine'));
    await quiet(chat);
    assert.equal(chat.error, undefined);
    await sameInHistory(chat);
  });

  // evidence: promise-resume
  test('a connection that is cut in mid-turn: the client reads on by itself, and shows each word once', async () => {
    const { chat, net } = open(await session('unhurried'), { net: network(n => (n === 1 ? 30 : 0)) });
    await chat.sendMessage({ text: 'slow' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(starts(net), [30]);
    assert.match(net.asked[1], /\/chat\/run_\w+\/stream\?startIndex=30$/);
    await sameInHistory(chat);
  });

  for (const script of ['slow', 'tool', 'think', 'parallel', 'subagent', 'plan', 'unicode', 'edit', 'usage', 'both']) {
    test(`a connection that carries three chunks at a time: ${script}`, async () => {
      const { chat, net } = open(await session(), { net: network(() => 3, script === 'slow') });
      await chat.sendMessage({ text: script });
      assert.equal(chat.error, undefined);
      assert.deepEqual(
        starts(net),
        net.asked.slice(1).map((_, i) => 3 * (i + 1)),
      );
      assert.ok(starts(net).length > 0);
      await sameInHistory(chat);
    });
  }

  test('a cut before the last chunk, when the turn is over', async () => {
    const id = await session(),
      { chat, net } = open(id, { net: network(n => (n === 1 ? 'finish' : 0)) });
    await chat.sendMessage({ text: 'tool' });
    assert.equal(chat.error, undefined);
    assert.equal(starts(net).length, 1);
    await sameInHistory(chat);
  });

  test('an answer whose response is cut: the rest of the message comes once', async () => {
    const { chat, net } = open(await session(), { net: network(() => 3) });
    await chat.sendMessage({ text: 'approve' });
    const [asked] = toolsOf(chat.lastMessage).filter(p => p.state === 'approval-requested');
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until('the rest has come', () => toolsOf(chat.lastMessage).every(p => p.state === 'output-available'));
    await quiet(chat);
    assert.equal(chat.error, undefined);
    assert.ok(net.asked.some(a => /\/chat\/rest_\w+\/stream\?startIndex=\d+$/.test(a)));
    await sameInHistory(chat);
  });

  test('a page that is loaded anew in mid-turn, by the id of the chat, and is cut then', async () => {
    const id = await session('unhurried'),
      first = open(id);
    void first.chat.sendMessage({ text: 'slow' });
    await begun(first.chat);
    await first.chat.stop(); // the page goes
    const { chat, net } = open(id, { net: network(n => (n === 1 ? 12 : 0)), messages: await side.history(id, '7.0.112') });
    await chat.resumeStream();
    assert.equal(chat.error, undefined);
    assert.equal(chat.messages.length, 2);
    assert.deepEqual(
      net.asked,
      [0, 12].map(n => `GET /api/sessions/${id}/chat/${id}/stream?startIndex=${n}`),
    );
    await sameInHistory(chat);
  });

  test('a page that is loaded anew while a tool runs', async () => {
    const id = await session('unhurried'),
      first = open(id);
    void first.chat.sendMessage({ text: 'shell' });
    await until('a call runs', () => toolsOf(first.chat.lastMessage).some(p => p.state !== 'input-streaming'));
    const { chat } = open(id, { messages: await side.history(id, '7.0.112') });
    await chat.resumeStream();
    assert.equal(chat.error, undefined);
    await quiet(first.chat);
    await sameInHistory(chat);
  });

  test('two pages that are loaded anew: a cut one begins again, and gets no words of the other', async () => {
    const id = await session('unhurried'),
      first = open(id);
    void first.chat.sendMessage({ text: 'slow' });
    await begun(first.chat);
    const one = open(id, { net: network(n => (n === 1 ? 20 : 0)) }),
      two = open(id),
      followed = two.chat.resumeStream();
    await begun(two.chat);
    void one.chat.resumeStream();
    await until('it has begun again', () => one.net.asked.length === 3);
    assert.deepEqual(starts(one.net), [0, 20, 0]);
    assert.deepEqual(one.net.answers.slice(0, 2), [200, 410]);
    await followed;
    await Promise.all([quiet(first.chat), quiet(one.chat)]);
    for (const { chat } of [first, one, two]) {
      assert.equal(chat.error, undefined);
      await sameInHistory(chat);
    }
  });

  test('nothing to resume: 200 and a finish, never 204', async () => {
    for (const id of [await session(), randomUUID()]) {
      const { chat, net } = open(id);
      await chat.resumeStream();
      assert.equal(chat.status, 'ready');
      assert.deepEqual(net.answers, [200]);
      assert.equal(chat.messages.length, 0);
    }
  });

  test('a page that is loaded anew after the end of the turn', async () => {
    const id = await session(),
      first = open(id);
    await first.chat.sendMessage({ text: 'tool' });
    const { chat, net } = open(id, { messages: await side.history(id, '7.0.112') });
    await chat.resumeStream();
    assert.equal(chat.error, undefined);
    assert.deepEqual(net.answers, [200]);
    assert.equal(chat.messages.length, 2);
    await sameInHistory(chat);
  });

  test('the newest chunks only: the page gets the whole message, and counts on rightly', async () => {
    const id = await session('unhurried'),
      first = open(id);
    void first.chat.sendMessage({ text: 'slow' });
    await begun(first.chat);
    const { chat, net } = open(id, { net: network(n => (n === 1 ? 12 : 0)), initialStartIndex: -10 });
    await chat.resumeStream();
    assert.equal(chat.error, undefined);
    assert.deepEqual(starts(net), [-10, 12]);
    await quiet(first.chat);
    await sameInHistory(chat);
  });

  test('stop is a call of its own', async () => {
    const id = await session('unhurried'),
      { chat, net } = open(id);
    const sent = chat.sendMessage({ text: 'slow 10000' });
    await begun(chat);
    assert.equal(await state(id), 'running');
    assert.equal((await side.post(`/api/sessions/${id}/stop`)).json.stopped, true);
    await sent;
    assert.equal(chat.status, 'ready');
    assert.deepEqual(starts(net), []);
    await over(id);
  });

  test('a failed turn, in one piece and in several', async () => {
    for (const cut of [0, 3]) {
      const { chat } = open(await session(), { net: network(() => cut) });
      await chat.sendMessage({ text: 'error' });
      assert.equal(chat.status, 'error');
      assert.ok(chat.error.message && !/Failed to fetch/.test(chat.error.message), chat.error.message);
    }
  });

  test('a refusal is shown', async () => {
    const { chat } = open(randomUUID());
    await chat.sendMessage({ text: 'hello' });
    assert.match(chat.error.message, /^Failed to fetch chat: 404 There is no such session/);
  });
});

describe('WorkflowChatTransport, alone with the gateway', () => {
  test('a gateway that restarts in mid-turn: the page begins again, and shows what is on record, each word once', async () => {
    const id = await session('unhurried'),
      net = network(),
      patient = net.fetch;
    net.fetch = async (...args) => {
      // as a proxy in front of a gateway that restarts
      for (const end = Date.now() + 30000; ; await sleep(50)) {
        try {
          return await patient(...args);
        } catch (e) {
          if (Date.now() > end) throw e;
        }
      }
    };
    const { chat } = open(id, { net });
    void chat.sendMessage({ text: 'slow' });
    await begun(chat);
    await server.restart('SIGKILL');
    await until('the page says that the turn has failed', () => chat.status === 'error' && !chat.error.message.includes('Failed to fetch'));
    assert.ok(net.answers.includes(410));
    assert.equal(starts(net).at(-1), 0);
    assert.equal(chat.messages.length, 2);
    await sameInHistory(chat);
  });
});
