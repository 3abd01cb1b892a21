// What a stop waits for, with the clock in the test's hand.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import { Conversation, TributaryTransport } from '../dist/index.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());
const settled = async () => {
  for (let i = 0; i < 20; i++)
    await new Promise(resolve => {
      setImmediate(resolve);
    });
};
const json = (body, status = 200) => new Response(JSON.stringify(body), { status });

/** A conversation in the middle of an answer. stop: the gateway's answer to the stop. */
async function answering(stop = json({ stopped: true })) {
  let out,
    aborted = false;
  const fetch = async (url, { signal } = {}) => {
    if (/\/messages/.test(url)) return json([]);
    if (/\/requests/.test(url)) return json({ requests: [] });
    if (/\/stop/.test(url)) return stop;
    if (/\/events/.test(url)) return new Response(new ReadableStream());
    signal.addEventListener('abort', () => {
      aborted = true;
      out.error(signal.reason);
    });
    return new Response(
      new ReadableStream({
        start(controller) {
          out = controller;
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );
  };
  const conversation = new Conversation({
    id: 's',
    transport: new TributaryTransport({ fetch, client: '7' }),
    create: init => new Chat(init),
  });
  await conversation.ready();
  const write = (...chunks) => out.enqueue(new TextEncoder().encode(chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')));
  const sent = conversation.sendMessage({ text: 'go' });
  await settled();
  write({ type: 'start', messageId: 'm' }, { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'One' });
  await settled();
  let over = false;
  const stopped = conversation.stop().then(() => {
    over = true;
  });
  stopped.catch(() => {
    /* the test looks at it later */
  });
  await settled();
  return {
    conversation,
    write,
    end: () => out.close(),
    sent,
    stopped,
    get over() {
      return over;
    },
    get aborted() {
      return aborted;
    },
  };
}

test('a stop is over when the stream is, and no later', async () => {
  const turn = await answering();
  assert.equal(turn.over, false, 'the last words have not come');
  turn.write({ type: 'text-delta', id: 't', delta: ' and two.' }, { type: 'text-end', id: 't' }, { type: 'finish' });
  turn.end();
  await settled();
  assert.deepEqual([turn.over, turn.aborted, turn.conversation.chat.messages[1].parts[0].text], [true, false, 'One and two.']);
});

test('a stop whose last words do not come closes the stream after six seconds', async () => {
  const turn = await answering();
  mock.timers.tick(5999);
  await settled();
  assert.deepEqual([turn.over, turn.aborted], [false, false]);
  mock.timers.tick(1);
  await settled();
  assert.deepEqual([turn.over, turn.aborted], [true, true]);
});

test('a stop of a prompt that the gateway does not know yet takes the prompt back', async () => {
  const turn = await answering(json({ error: 'There is no such session.', code: 'unknown_session' }, 404));
  assert.deepEqual([turn.over, turn.aborted], [true, true]);
});

test('a stop that is refused closes nothing, and says why', async () => {
  const turn = await answering(json({ error: 'Only its owner may stop it.', code: 'forbidden' }, 403));
  assert.equal(turn.aborted, false);
  await assert.rejects(turn.stopped, { message: 'Only its owner may stop it.' });
  assert.equal(turn.conversation.state.problem.message, 'Only its owner may stop it.');
});
