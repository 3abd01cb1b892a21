// A stream of events that comes back by itself, with the clock in the test's hand.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { TributaryTransport } from '../dist/index.js';
import { serverEvents } from '../dist/sse.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());
const settled = () =>
  new Promise(resolve => {
    setImmediate(resolve);
  });

/** A gateway whose responses the test writes. Each entry of asked is one request. */
function gateway() {
  const asked = [];
  const fetch = (url, { signal }) =>
    new Promise((resolve, reject) => {
      let out;
      const body = new ReadableStream({
        start(controller) {
          out = controller;
        },
      });
      const request = {
        url,
        signal,
        open: () => resolve(new Response(body)),
        write: text => out.enqueue(new TextEncoder().encode(text)),
        refuse: (status, text) => resolve(new Response(text, { status })),
      };
      signal.addEventListener('abort', () => {
        reject(signal.reason);
        out.error(signal.reason);
      });
      asked.push(request);
    });
  const heard = [],
    end = new AbortController();
  const reading = (async () => {
    for await (const { type, mark } of new TributaryTransport({ fetch }).events('s', {
      signal: end.signal,
      onConnection: there => heard.push(there),
    }))
      heard.push(`${type} ${mark}`);
  })();
  return {
    asked,
    heard,
    reading,
    stop: async () => {
      end.abort();
      await reading;
    },
  };
}

const event = id => `id: ${id}\ndata: {"type":"title","title":"x"}\n\n`;

test('a connection that is silent for 45 seconds is dead: it is given up, and another one goes on behind the last mark', async () => {
  const { asked, heard, stop } = gateway();
  await settled();
  asked[0].open();
  asked[0].write(event(7));
  await settled();
  mock.timers.tick(44_999);
  await settled();
  assert.equal(asked[0].signal.aborted, false, 'a pause of less than 45 seconds is none');
  mock.timers.tick(1);
  await settled();
  assert.equal(asked[0].signal.aborted, true, 'the dead connection was not noticed after 45 seconds of silence');
  assert.deepEqual(heard, [true, 'title 7', false]);
  mock.timers.tick(1000);
  await settled();
  assert.match(asked[1]?.url ?? 'no second request', /after=7$/);
  await stop();
});

test('a comment of the gateway keeps a connection, as an event does', async () => {
  const { asked, heard, stop } = gateway();
  await settled();
  asked[0].open();
  for (const text of [': still there\n\n', ':\n\n', event(1)]) {
    await settled();
    mock.timers.tick(40_000);
    asked[0].write(text);
  }
  await settled();
  mock.timers.tick(44_000);
  assert.equal(asked[0].signal.aborted, false);
  assert.deepEqual(heard, [true, 'title 1']);
  await stop();
});

test('a gateway that does not even answer is given up too', async () => {
  const { asked, heard, stop } = gateway();
  await settled();
  mock.timers.tick(45_000);
  await settled();
  assert.deepEqual([asked[0].signal.aborted, heard], [true, [false]]);
  await stop();
});

test('each further loss waits longer, up to 30 seconds; a refusal for good ends the iteration', async () => {
  const { asked, reading } = gateway();
  for (const most of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    await settled();
    asked.at(-1).refuse(503, 'Away.');
    await settled();
    const before = asked.length;
    mock.timers.tick(most / 2 - 1);
    await settled();
    assert.equal(asked.length, before, `it is asked again before ${most / 2} ms`);
    mock.timers.tick(most / 2 + 1);
    await settled();
    assert.equal(asked.length, before + 1, `it is not asked again after ${most} ms`);
  }
  asked.at(-1).refuse(403, 'Not yours.');
  await assert.rejects(reading, { name: 'TributaryError', status: 403, message: 'Not yours.' });
});

/** The events of pieces of a body. */
async function read(...pieces) {
  const events = [],
    body = new ReadableStream({
      start(out) {
        for (const piece of pieces) out.enqueue(piece);
        out.close();
      },
    });
  for await (const { id, data } of serverEvents(body)) events.push([id, data]);
  return events;
}
const bytes = text => new TextEncoder().encode(text);

test('events are the same wherever a body is cut', async () => {
  const body = bytes('\ufeffid: 1\ndata: ä€😀\n\n: comment\n\nevent: x\r\ndata:a\r\ndata: b\r\n\r\nid\ndata\n\ndata: cut');
  const whole = await read(body);
  assert.deepEqual(whole, [
    ['1', 'ä€😀'],
    ['1', 'a\nb'],
    ['', ''],
  ]);
  for (let at = 1; at < body.length; at++) assert.deepEqual(await read(body.subarray(0, at), body.subarray(at)), whole, `cut at ${at}`);
});

test('a line of 16 MB in 2,000 pieces is read once', async () => {
  const piece = bytes('x'.repeat(8192)),
    begun = process.cpuUsage();
  const [[, data]] = await read(bytes('data: '), ...Array.from({ length: 2000 }, () => piece), bytes('\n\n'));
  assert.equal(data.length, 2000 * 8192);
  assert.ok(process.cpuUsage(begun).user < 2e6, 'the line is read again for each piece');
});
