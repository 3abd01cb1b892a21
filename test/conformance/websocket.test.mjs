// The stock client's WebSocketChatTransport against the real gateway, in the form that a browser uses: the token is a subprotocol.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import * as ai from 'ai';
import { WebSocket } from 'ws';
import { textOf } from './lib/message.mjs';
import { start, http } from './lib/server.mjs';
import { BINARY, sleep, until } from './lib/site.mjs';

let server, side;
const transports = new Set(),
  sockets = [];
before(async () => {
  server = await start(BINARY, {
    yaml: 'agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 12ms}\n',
  });
  side = http(server);
});
after(async () => {
  for (const t of transports) t.close();
  await server.stop();
});

class Socket extends WebSocket {
  constructor(...args) {
    super(...args);
    sockets.push(this);
  }
}

/** A transport of the page, with a socket of its own. */
function transport(params = {}) {
  const t = new ai.WebSocketChatTransport({
    url: `${server.base}/api/chat`,
    params,
    protocols: ['ai-sdk-chat', `bearer.${server.token}`],
    webSocket: Socket,
  });
  transports.add(t);
  return t;
}

/** A chat that sends the answers of a person by itself, as an app does. */
function open(t = transport(), id = randomUUID(), messages = []) {
  return new Chat({
    id,
    messages,
    transport: t,
    sendAutomaticallyWhen: c =>
      ai.lastAssistantMessageIsCompleteWithToolCalls(c) || ai.lastAssistantMessageIsCompleteWithApprovalResponses(c),
  });
}

const quiet = chat =>
  until(
    `the chat is ready; it is ${chat.status}: ${JSON.stringify(chat.lastMessage)}`,
    () => chat.status === 'ready' || chat.status === 'error',
  );
const tools = m => m.parts.filter(p => ai.isToolUIPart(p) || p.type === 'dynamic-tool');
const shows = (chat, words) =>
  until(`the page shows ${words}`, () => chat.lastMessage?.role === 'assistant' && textOf(chat.lastMessage).includes(words));

/** Compares what is on the screen with the history, without what the two write differently. */
async function sameInHistory(chat) {
  const last = (await side.history(chat.id, 7)).at(-1);
  assert.equal(textOf(chat.lastMessage), textOf(last));
  assert.deepEqual(
    tools(chat.lastMessage).map(p => p.state),
    tools(last).map(p => p.state),
  );
}

test('text and a tool', async () => {
  const chat = open();
  await chat.sendMessage({ text: 'hello' });
  assert.equal(chat.error, undefined);
  assert.ok(textOf(chat.lastMessage).length > 0);
  await chat.sendMessage({ text: 'tool' });
  assert.deepEqual(
    tools(chat.lastMessage).map(p => p.state),
    ['output-available'],
  );
  assert.equal(chat.messages.length, 4);
  await sameInHistory(chat);
});

// evidence: promise-stock-answer
for (const approved of [true, false]) {
  test(`an approval: ${approved ? 'allowed' : 'denied'}`, async () => {
    const chat = open();
    await chat.sendMessage({ text: 'approve' });
    const [asked] = tools(chat.lastMessage).filter(p => p.state === 'approval-requested');
    assert.ok(asked, JSON.stringify(chat.lastMessage));
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved });
    await until('the rest has come', () =>
      tools(chat.lastMessage).every(p => p.state === (approved ? 'output-available' : 'output-denied')),
    );
    await quiet(chat);
    assert.equal(chat.error, undefined);
    assert.equal(chat.messages.length, 2);
    await sameInHistory(chat);
  });
}

test('a question', async () => {
  const chat = open();
  await chat.sendMessage({ text: 'freely' });
  const question = tools(chat.lastMessage).find(p => p.state === 'input-available');
  await chat.addToolOutput({ tool: 'AskUser', toolCallId: question.toolCallId, output: 'Old Father Rhine' });
  await shows(chat, 'Old Father Rhine');
  await quiet(chat);
  assert.equal(chat.error, undefined);
});

test('a stop ends the turn, and the end of the stream alone does not', async () => {
  const chat = open(transport({ agent: 'unhurried' }));
  void chat.sendMessage({ text: 'slow 10000' });
  await until('the answer has begun', () => chat.lastMessage?.role === 'assistant' && textOf(chat.lastMessage));
  await chat.stop();
  const state = async () => (await side.get(`/api/sessions/${chat.id}`)).json.state;
  await sleep(300);
  assert.equal(await state(), 'running');
  assert.equal((await side.post(`/api/chat/${chat.id}/stop`)).json.stopped, true);
  await until('the turn has ended', async () => (await state()) !== 'running');
});

test('a page that is loaded anew in the middle of a turn shows the whole message', async () => {
  const first = open(transport({ agent: 'unhurried' }));
  void first.sendMessage({ text: 'slow' });
  await until('the answer has begun', () => first.lastMessage?.role === 'assistant' && textOf(first.lastMessage));
  first.transport.close();
  const second = open(transport(), first.id, await side.history(first.id, 7));
  await second.resumeStream();
  assert.equal(second.error, undefined);
  assert.equal(second.messages.length, 2);
  await sameInHistory(second);
  await second.resumeStream(); // nothing runs
  assert.equal(second.status, 'ready');
});

test('a lost connection is resumed over a new one', async () => {
  const chat = open(transport({ agent: 'unhurried' }));
  const before = sockets.length;
  void chat.sendMessage({ text: 'slow' });
  await until('the answer has begun', () => chat.lastMessage?.role === 'assistant' && textOf(chat.lastMessage));
  sockets[before].terminate();
  await until('the client has noticed', () => chat.status === 'error');
  assert.match(chat.error.message, /network/);
  await chat.resumeStream();
  assert.equal(chat.status, 'ready');
  assert.equal(sockets.length, before + 2);
  await sameInHistory(chat);
});

test('two chats on one socket', async () => {
  const shared = transport(),
    before = sockets.length;
  const chats = [open(shared), open(shared)];
  await Promise.all(chats.map((c, i) => c.sendMessage({ text: ['hello', 'tool'][i] })));
  assert.equal(sockets.length, before + 1);
  for (const chat of chats) {
    assert.equal(chat.error, undefined);
    await sameInHistory(chat);
  }
});

test('every script of the demo passes the client’s own check of chunks', async () => {
  const shared = transport(),
    before = sockets.length;
  for (const text of ['think', 'error', 'failing', 'parallel', 'plan', 'usage', 'edit', 'markdown']) {
    const chat = open(shared);
    await chat.sendMessage({ text });
    if (text !== 'error') assert.equal(chat.error, undefined, text);
  }
  assert.equal(sockets.length, before + 1, 'a bad chunk would have closed the socket');
});

test('a refusal is an error of its request only', async () => {
  const shared = transport(),
    before = sockets.length;
  const refused = open(shared),
    good = open(shared);
  await refused.sendMessage({ text: 'hello' }, { body: { agent: 'nobody' } });
  assert.match(refused.error.message, /There is no such agent as "nobody"/);
  await good.sendMessage({ text: 'hello' });
  assert.equal(good.error, undefined);
  assert.equal(sockets.length, before + 1);
});
