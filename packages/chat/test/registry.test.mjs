// Which conversation has which id, and for how long.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Registry } from '../dist/registry.js';
import { TributaryTransport } from '../dist/index.js';

const MINUTE = 60_000;
const never = () => new Promise(() => {});
let registry, transport;
const get = () => registry.get({ id: 's', transport, create: () => ({ messages: [], status: 'ready', stop: async () => {} }) });

beforeEach(() => {
  globalThis.window = new EventTarget();
  mock.timers.enable({ apis: ['setTimeout'] });
  registry = new Registry();
  transport = new TributaryTransport({ fetch: never });
});
afterEach(() => {
  mock.timers.reset();
  delete globalThis.window;
});

test('a conversation expires a minute after its last component has gone', () => {
  const first = get(),
    release = registry.hold(first);
  mock.timers.tick(2 * MINUTE);
  assert.equal(get(), first, 'a component shows it');
  release();
  mock.timers.tick(MINUTE - 1);
  assert.equal(get(), first);
  mock.timers.tick(1);
  assert.notEqual(get(), first);
});

test('a draft keeps its conversation', () => {
  const first = get();
  first.setDraft('not sent');
  mock.timers.tick(3 * MINUTE);
  assert.equal(get(), first);
});

test('a conversation that was ended while a component showed it does not take the next one of its id away', async () => {
  const old = get(),
    release = registry.hold(old);
  await registry.end(transport);
  const shown = get();
  assert.notEqual(shown, old);
  registry.hold(shown);
  release();
  mock.timers.tick(2 * MINUTE);
  assert.equal(get(), shown, 'the conversation on the screen is still the one of its id');
});

test('a component that takes an ended conversation up again does not take the place of the next one', async () => {
  const old = get();
  await registry.end(transport);
  const shown = get(),
    ends = [registry.hold(old), registry.hold(old)];
  assert.equal(get(), shown);
  let closed = 0;
  old.close = () => {
    closed++;
  };
  ends[0]();
  assert.equal(closed, 0, 'another component shows the old one');
  ends[1]();
  assert.equal(closed, 1);
});

test('on a server nothing is kept', () => {
  delete globalThis.window;
  const one = get();
  assert.notEqual(get(), one);
  let opened = 0;
  one.open = () => {
    opened++;
  };
  registry.hold(one)();
  assert.equal(opened, 0);
});
