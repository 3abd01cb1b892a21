// A session as a whole: its turns, what it has cost, its plan, its files, its place in the list.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { source } from './source.mjs';

const { turnsOf } = await source('conversation/turns.ts');
const { dollars, line, sessionUsageOf, short, usageOf } = await source('parts/usage.ts');
const { treeOf } = await source('review/tree.ts');
const { grouped, stateOf } = await source('shell/groups.ts');
const { languageOf, languageOfFile } = await source('parts/code/language.ts');

const message = (id, role, ...parts) => ({ id, role, parts });

describe('turns', () => {
  const u1 = message('u1', 'user'),
    a1 = message('a1', 'assistant'),
    u2 = message('u2', 'user'),
    a2 = message('a2', 'assistant');

  test('begin at each prompt, and at the first message', () => {
    assert.deepEqual(
      turnsOf([a1, u1, a2, u2]).map(t => [t.key, t.messages.map(m => m.id)]),
      [
        ['a1', ['a1']],
        ['u1', ['u1', 'a2']],
        ['u2', ['u2']],
      ],
    );
    assert.deepEqual(turnsOf([]), []);
  });

  test('that have not changed are the same objects, also beside one that grows', () => {
    const before = turnsOf([u1, a1, u2, a2]),
      after = turnsOf([u1, a1, u2, { ...a2 }]);
    assert.equal(after[0], before[0]);
    assert.notEqual(after[1], before[1]);
    assert.equal(turnsOf([u1, a1])[0], before[0]);
    assert.notEqual(turnsOf([u1])[0], before[0]);
  });
});

describe('usage', () => {
  const usage = (scope, more) => ({ type: 'data-usage', data: { scope, ...more } });
  const one = message(
    '1',
    'assistant',
    usage('step', { input_tokens: 1 }),
    usage('turn', { input_tokens: 10, output_tokens: 2, cost_usd: 0.5 }),
  );
  const two = message(
    '2',
    'assistant',
    usage('step', { input_tokens: 5, output_tokens: 1, context_used: 7, context_size: 10, model: 'm' }),
  );

  test('of a message is that of its turn, else of its step', () => {
    assert.deepEqual([usageOf(one).input_tokens, usageOf(two).input_tokens, usageOf(message('3', 'assistant'))], [10, 5, null]);
  });

  test('of a session is the sum of its turns, with the newest context', () => {
    assert.deepEqual(sessionUsageOf([one, two], true), {
      input_tokens: 15,
      output_tokens: 3,
      cost_usd: 0.5,
      context_used: 7,
      context_size: 10,
      model: 'm',
      partial: true,
    });
  });

  test('of a session is what the agent says of the session, which is never a part', () => {
    const said = message('3', 'assistant', usage('session', { input_tokens: 100, cost_usd: 9 }));
    const { input_tokens: tokens, cost_usd: cost, partial } = sessionUsageOf([one, said], true);
    assert.deepEqual([tokens, cost, partial], [100, 9, false]);
    assert.equal(sessionUsageOf([message('4', 'user')], false), null);
  });

  test('is written short', () => {
    assert.deepEqual([999, 1540, 99_500, 999_500].map(short), ['999', '1.5k', '100k', '1M']);
    assert.deepEqual([0.0123, 0.5, 12].map(dollars), ['$0.0123', '$0.50', '$12.00']);
    assert.equal(line({ input_tokens: 1200, output_tokens: 0, cost_usd: 0.5 }), '1,200 tokens in · $0.50');
  });
});

test('a folder whose only entry is a folder shares its line', () => {
  const file = path => ({ path });
  const shape = ({ name, folders, files }) => [name, files.map(f => f.path), ...folders.map(shape)];
  assert.deepEqual(shape(treeOf(['a/b/c.go', 'a/b/d/e.go', 'top', '/abs/x'].map(file))), [
    '',
    ['top'],
    ['a/b', ['a/b/c.go'], ['d', ['a/b/d/e.go']]],
    ['abs', ['/abs/x']],
  ]);
});

test('sessions stand under the names of their days', () => {
  const now = new Date(2026, 4, 20, 12),
    at = (days, hour = 9) => ({ updated_at: new Date(2026, 4, 20 - days, hour).toISOString() });
  assert.deepEqual(
    grouped([at(0), at(0, 0), at(1), at(2), at(6), at(8), at(60)], now).map(g => [g.name, g.sessions.length]),
    [
      ['Today', 2],
      ['Yesterday', 1],
      ['This week', 2],
      ['This month', 1],
      ['Older', 1],
    ],
  );
});

test('a session says what it does: what waits comes first', () => {
  const word = (session, unseen = false) => stateOf(session, unseen).word;
  assert.deepEqual(
    [
      word({ state: 'running', waiting: ['r'] }),
      word({ state: 'running' }),
      word({ state: 'idle', outcome: 'failed' }, true),
      word({ state: 'idle' }, true),
      word({ state: 'idle' }),
    ],
    ['waits for you', 'working', 'failed', 'finished', ''],
  );
});

test('a language has many names', () => {
  assert.deepEqual(['js', 'TypeScript {1}', 'sh:file', 'klingon', undefined].map(languageOf), [
    'javascript',
    'tsx',
    'shellscript',
    undefined,
    undefined,
  ]);
  assert.deepEqual(['/a/b.go', 'Dockerfile', 'dir\\x.py', 'none', undefined].map(languageOfFile), [
    'go',
    'docker',
    'python',
    undefined,
    undefined,
  ]);
});
