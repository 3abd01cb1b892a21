// The WebSockets of the page. Node.js 20 has none, so a stand-in takes what is sent, as slowly as the test says.
import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { source } from './source.mjs';

globalThis.location = { origin: 'http://gateway.test' };
const { serve } = await source('api/sockets.ts');

/** What a slow line takes of a message each second, in characters. */
let rate;

class SlowSocket extends EventTarget {
  static OPEN = 1;
  bufferedAmount = 0;
  readyState = 0;

  constructor() {
    super();
    setTimeout(() => {
      this.readyState = SlowSocket.OPEN;
      this.onopen();
      this.dispatchEvent(new Event('open'));
    }, 10);
    setInterval(() => {
      this.bufferedAmount = Math.max(0, this.bufferedAmount - rate);
    }, 1000);
  }

  send(text) {
    this.bufferedAmount += text.length;
  }

  close() {}
}
globalThis.WebSocket = SlowSocket;

/** What a tab hears that sends a prompt of a million characters, after so many seconds. */
function heardAfter(seconds) {
  const heard = [],
    port = { postMessage: news => heard.push(news.type) };
  serve(port);
  port.onmessage({ data: { id: 1, path: '/api/chat', secret: '', body: `{"text":"${'x'.repeat(1_000_000)}"}` } });
  for (let i = 0; i < seconds; i++) mock.timers.tick(1000);
  return heard;
}

describe('a large prompt', () => {
  beforeEach(() => {
    mock.timers.reset();
    mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
  });

  test('is sent for as long as the network takes some of it', () => {
    rate = 10_000;
    assert.deepEqual(heardAfter(120), []);
  });

  test('is given up when the network takes nothing for 45 seconds', () => {
    rate = 0;
    assert.deepEqual(heardAfter(44), []);
    assert.deepEqual(heardAfter(50), ['lost']);
  });
});
