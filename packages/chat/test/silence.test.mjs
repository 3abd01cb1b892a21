// A network that takes requests and brings nothing back: each call ends, with the clock in the test's hand.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { isNetworkError, TributaryTransport } from '../dist/index.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());
const settled = async () => {
  for (let i = 0; i < 20; i++)
    await new Promise(resolve => {
      setImmediate(resolve);
    });
};

const message = text => ({ id: 'm', role: 'user', parts: [{ type: 'text', text }] });
const send = (transport, text) => transport.sendMessages({ chatId: 's', trigger: 'submit-message', messages: [message(text)] });

/** Calls, with the seconds of silence after which each is a lost connection. */
const CALLS = {
  'a prompt': [send, 45],
  'the stream of a turn': [transport => transport.reconnectToStream({ chatId: 's' }), 45],
  'a prompt for the queue': [transport => transport.enqueue('s', message('x')), 45],
  'a stop': [transport => transport.stopTurn('s'), 45],
  'an answer': [transport => transport.answer('s', 'r', { decision: 'allow' }), 45],
  'the history': [transport => transport.history('s'), 45],
  'the requests': [transport => transport.requests(), 45],
  'another route': [transport => transport.call('PATCH', '/api/sessions/s', { title: 'x' }), 45],
  'a removal, which may wait for git': [transport => transport.call('DELETE', '/api/sessions/s'), 300],
  'a prompt of 16 MB, on a slow line': [transport => send(transport, 'x'.repeat(16_000_000)), 45 + 1000],
};

for (const [name, [call, seconds]] of Object.entries(CALLS)) {
  test(`${name} that is not answered ends after ${seconds} seconds`, async () => {
    const transport = new TributaryTransport({
      client: '7',
      fetch: () =>
        new Promise(() => {
          /* not even when it is aborted */
        }),
    });
    let error;
    call(transport).catch(e => {
      error = e;
    });
    await settled();
    mock.timers.tick(seconds * 1000 - 1);
    await settled();
    assert.equal(error, undefined);
    mock.timers.tick(1000);
    await settled();
    assert.ok(isNetworkError(error), String(error));
  });
}

test('an answer without content is one, though Chromium gives it a body', async () => {
  const transport = new TributaryTransport({
    client: '7',
    fetch: async () => ({ ok: true, status: 204, headers: new Headers(), body: new ReadableStream() }),
  });
  assert.equal(await transport.call('DELETE', '/api/sessions/s'), undefined);
});

/** A response whose body the test writes. */
function answered() {
  let out;
  const response = new Response(
    new ReadableStream({
      start(controller) {
        out = controller;
      },
    }),
  );
  return { response, write: text => out.enqueue(new TextEncoder().encode(text)) };
}

test('an answer that stops in the middle is a lost connection, and comments are no silence', async () => {
  const { response, write } = answered();
  const stream = await send(new TributaryTransport({ client: '7', fetch: async () => response }), 'x');
  const reader = stream.getReader();
  write('data: {"type":"start","messageId":"a"}\n\n');
  assert.equal((await reader.read()).value.type, 'start');
  let error;
  reader.read().catch(e => {
    error = e;
  });
  for (let i = 0; i < 3; i++) {
    await settled();
    mock.timers.tick(44_000);
    write(': keep-alive\n\n');
  }
  await settled();
  assert.equal(error, undefined);
  mock.timers.tick(45_000);
  await settled();
  assert.ok(isNetworkError(error), String(error));
});

test('an app that does not read on is no silence', async () => {
  const { response, write } = answered();
  const got = await new TributaryTransport({ fetch: async () => response }).response('GET', '/api/sessions/s/trace');
  write('one');
  const reader = got.body.getReader();
  await reader.read();
  mock.timers.tick(600_000);
  await settled();
  write('two');
  assert.equal(new TextDecoder().decode((await reader.read()).value), 'two');
});

test('the end of a caller’s signal ends the request and its body with the caller’s reason', async () => {
  for (const early of [true, false]) {
    const end = new AbortController(),
      reason = new Error('enough');
    const { response } = answered();
    let given;
    const transport = new TributaryTransport({
      fetch: (_, { signal }) => {
        given = signal;
        return early
          ? new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
            })
          : Promise.resolve(response);
      },
    });
    const got = transport.response('GET', '/api/sessions/s/trace', undefined, end.signal);
    await settled();
    end.abort(reason);
    assert.equal(given.reason, reason);
    if (early) await assert.rejects(got, reason);
  }
});
