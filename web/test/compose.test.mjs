// What a person writes: the list at the caret, files, comments.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { source } from './source.mjs';

const { triggerAt } = await source('compose/trigger.ts');
const { add, MOST_FILES, room, size } = await source('compose/attachments.ts');
const { place, withComments } = await source('compose/comments.ts');

describe('the list at the caret', () => {
  for (const [text, want] of [
    ['/he|', { kind: 'command', query: 'he', from: 0, to: 3 }],
    ['/|', { kind: 'command', query: '', from: 0, to: 1 }],
    ['/help me|', null],
    [' /he|', null],
    ['look at @sr|c', { kind: 'file', query: 'sr', from: 8, to: 11 }],
    ['@|', { kind: 'file', query: '', from: 0, to: 1 }],
    ['line\n@a|', { kind: 'file', query: 'a', from: 5, to: 7 }],
    ['me@example|', null],
    ['@a @b|', { kind: 'file', query: 'b', from: 3, to: 5 }],
    ['@done |', null],
    ['|/he', null],
  ]) {
    test(JSON.stringify(text), () => assert.deepEqual(triggerAt(text.replace('|', ''), text.indexOf('|')), want));
  }
});

describe('files', () => {
  const file = (name, bytes) => ({ name, size: bytes });

  test('beyond the number stay out, and a sentence says so', () => {
    const { list, problem } = add(
      [],
      Array.from({ length: MOST_FILES + 2 }, (_, i) => file(`f${i}`, 1)),
    );
    assert.equal(list.length, MOST_FILES);
    assert.equal(problem, '50 of 52 files are attached: a message takes 50. Attach the others to the next message.');
  });

  test('that are too large together stay out, and smaller ones come in', () => {
    const { list, problem } = add([], [file('large.bin', 20e6), file('larger.bin', 20e6), file('small.txt', 10)]);
    assert.deepEqual(
      list.map(a => a.file.name),
      ['large.bin', 'small.txt'],
    );
    assert.equal(problem, 'larger.bin did not fit: the files of a message may have 25 MB together.');
    assert.ok(room(list) > 0);
  });

  test('have ids of their own, and no sentence while all fit', () => {
    const { list, problem } = add([], [file('a', 1), file('a', 1)]);
    assert.notEqual(list[0].id, list[1].id);
    assert.equal(problem, null);
  });

  test('have sizes that people read', () =>
    assert.deepEqual([999, 1500, 1_234_567, 25_000_000].map(size), ['999 B', '2 KB', '1.2 MB', '25 MB']));
});

describe('comments', () => {
  const comment = { id: 'c', path: 'a.go', from: 3, to: 3, side: 'new', quoted: 'x := 1', text: 'why?' };

  test('stand before the prompt, with the lines that they are about', () => {
    assert.equal(withComments([comment], 'go on'), '`a.go:3`\n```\nx := 1\n```\nwhy?\n\ngo on');
    assert.equal(withComments([comment], ''), '`a.go:3`\n```\nx := 1\n```\nwhy?');
    assert.equal(withComments([], 'go on'), 'go on');
  });

  test('quote code that has fences of its own', () => {
    assert.match(withComments([{ ...comment, quoted: '```\nx\n````' }], ''), /^`a\.go:3`\n`````\n/);
  });

  test('name their place', () => {
    assert.deepEqual([comment, { ...comment, to: 5 }, { ...comment, side: 'old' }, { ...comment, from: 0 }].map(place), [
      'a.go:3',
      'a.go:3-5',
      'a.go:3 (before the change)',
      'a.go',
    ]);
  });
});
