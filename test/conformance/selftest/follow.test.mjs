// The code that docs/guides/resume-and-tabs.md shows, with a chat and events that the tests make.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { follow } from '../lib/second-tab.mjs';

const message = (id, role) => ({ id, role, parts: [{ type: 'text', text: id }] });
const prompt = message('u1', 'user');
const answer = message('a1', 'assistant');

let stop;
beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => {
  stop();
  mock.timers.reset();
});

/** A tab with a chat, and a function that tells it an event. */
function tab(status, messages, history = [prompt, answer]) {
  const seen = [];
  let events;
  globalThis.EventSource = class {
    constructor() {
      events = this;
    }
    close() {}
  };
  const chat = { status, messages, resumed: 0 };
  chat.setMessages = change => {
    chat.messages = change(chat.messages);
    seen.push(chat.messages.map(m => m.id).join());
  };
  chat.resumeStream = async () => {
    chat.resumed++;
  };
  stop = follow(
    's',
    () => chat,
    async () => history,
  );
  return { chat, seen, event: e => events.onmessage({ data: JSON.stringify(e) }) };
}

/** Lets the tab look at its events so many times. */
async function looks(number) {
  for (let n = 0; n < number; n++) {
    mock.timers.tick(150);
    await new Promise(setImmediate);
  }
}

const turn = state => ({ type: 'turn', turn: 't1', state, message_id: 'a1' });

test('a tab keeps the answer of its own stream until the event of its end has come', async () => {
  const { chat, seen, event } = tab('streaming', [prompt, answer]);
  event(turn('running'));
  await looks(2);
  chat.status = 'ready';
  await looks(3);
  event(turn('ended'));
  await looks(2);
  assert.deepEqual([seen, chat.resumed, chat.messages.length], [[], 0, 2]);
});

test("a tab resumes another one's turn at once", async () => {
  const { chat, seen, event } = tab('ready', [prompt, answer]);
  event(turn('running'));
  await looks(2);
  assert.deepEqual([seen, chat.resumed], [['u1'], 1]);
});

test('a tab whose own stream has broken off resumes it at once', async () => {
  const { chat, seen, event } = tab('streaming', [prompt, answer]);
  event(turn('running'));
  await looks(2);
  chat.status = 'error';
  await looks(2);
  assert.deepEqual([seen, chat.resumed], [['u1'], 1]);
});

test('a tab whose own stream has ended early resumes it after three seconds', async () => {
  const { chat, event } = tab('streaming', [prompt, answer]);
  event(turn('running'));
  await looks(2);
  chat.status = 'ready';
  await looks(20);
  assert.equal(chat.resumed, 0);
  await looks(2);
  assert.equal(chat.resumed, 1);
});
