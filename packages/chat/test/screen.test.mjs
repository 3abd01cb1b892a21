// The states of a screen: the table, and what the rules make of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '../dist/screen.js';
import { Turns } from '../dist/turns.js';

const after = (begin, ...events) => {
  const screen = new Screen(begin);
  for (const event of events) screen.on(event);
  return screen.state;
};

test('a page that comes shows all, unless the screen missed something meanwhile', () => {
  assert.equal(after('behind', 'read', 'page'), 'current');
  assert.equal(after('behind', 'read', 'missed', 'page'), 'behind');
  assert.equal(after('behind', 'read', 'missed', 'missed', 'page', 'read', 'page'), 'current');
});

test('a page from before a stream of this tab must not be shown', () => {
  for (const before of [[], ['missed']]) {
    const screen = new Screen('behind');
    for (const event of ['read', ...before, 'stream', 'missed', 'stream']) screen.on(event);
    assert.equal(screen.can('page'), false);
    assert.throws(() => screen.on('page'), /A screen that is overtaken cannot have the event page/);
    screen.on('none');
    assert.equal(screen.state, 'behind');
  }
});

test('a page that does not come leaves the screen behind; two pages are never read at once', () => {
  for (const events of [['read'], ['read', 'missed'], ['read', 'stream']]) {
    const screen = new Screen('behind');
    for (const event of events) screen.on(event);
    assert.equal(screen.can('read'), false, screen.state);
    screen.on('none');
    assert.deepEqual([screen.state, screen.can('read')], ['behind', true]);
  }
});

const told = (turns, state, turn = 't', message_id = 'm') => turns.told({ turn, state, message_id });
const states = (turns, failed = false) => turns.missed(failed).map(({ state }) => state);

test('the end of a turn that a stream has brought is no news, unless the Chat shows an error', () => {
  const turns = new Turns();
  turns.over('m');
  told(turns, 'running');
  assert.deepEqual(states(turns), ['running'], 'it may run on');
  told(turns, 'ended');
  assert.deepEqual(states(turns, true), ['ended']);
  assert.deepEqual(states(turns), []);
});

test('a turn that somebody has answered is longer than what the stream brought', () => {
  const turns = new Turns();
  turns.over('m');
  told(turns, 'paused');
  assert.deepEqual(states(turns), []);
  told(turns, 'running');
  told(turns, 'ended');
  assert.deepEqual(states(turns), ['ended']);
});

test('a page takes the news away that it was read after, and no newer news', () => {
  const turns = new Turns();
  told(turns, 'running');
  told(turns, 'queued', 'u', undefined);
  const missed = turns.missed(false);
  told(turns, 'ended');
  turns.shown(missed);
  assert.deepEqual(states(turns), ['ended']);
});

test('a stream that broke off is known until one comes to its end', () => {
  const turns = new Turns();
  turns.broke(undefined);
  assert.equal(turns.cut, '');
  turns.broke('m');
  turns.broke(undefined);
  assert.equal(turns.cut, 'm');
  turns.over(undefined);
  assert.equal(turns.cut, undefined);
});
