// Differences: how they are read, made, paired and cut.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { source } from './source.mjs';

const { readPatch, patchOf } = await source('parts/diff/patch.ts');
const { pairs, side, colored, segments } = await source('parts/diff/rows.ts');
const { editsIn } = await source('parts/tool/edits.ts');

const rows = hunks =>
  hunks.flatMap(h => h.rows).map(r => `${{ same: ' ', add: '+', del: '-' }[r.kind]}${r.old ?? '-'} ${r.new ?? '-'} ${r.text}`);

describe('a patch', () => {
  test('is read with the numbers of its lines', () => {
    const [file, ...more] = readPatch('--- a/src/x.go\n+++ b/src/x.go\n@@ -3,3 +3,4 @@\n one\n-two\n+2\n+3\n four\n');
    assert.deepEqual(more, []);
    assert.deepEqual(rows(file.hunks), [' 3 3 one', '-4 - two', '+- 4 2', '+- 5 3', ' 5 6 four']);
    assert.deepEqual(
      { path: file.path, change: file.change, added: file.added, removed: file.removed, head: file.hunks[0].head },
      { path: 'src/x.go', change: 'modified', added: 2, removed: 1, head: '@@ -3,3 +3,4 @@' },
    );
  });

  test('says what becomes of a file', () => {
    const change = patch => readPatch(patch).map(f => [f.change, f.path, f.from]);
    assert.deepEqual(change(patchOf('new', null, 'x\n')), [['created', 'new', undefined]]);
    assert.deepEqual(change(patchOf('old', 'x\n', null)), [['deleted', 'old', undefined]]);
    assert.deepEqual(change('--- a/one\n+++ b/two\n@@ -1 +1 @@\n-x\n+y\n'), [['moved', 'two', 'one']]);
  });

  test('marks the words that differ, but not in another line', () => {
    const marks = (old, now) =>
      readPatch(patchOf('f', old, now))[0].hunks[0].rows.map(r => r.marks?.map(([from, to]) => r.text.slice(from, to)));
    assert.deepEqual(marks('the river flows\n', 'the river runs\n'), [['flows'], ['runs']]);
    assert.deepEqual(marks('the river flows\n', 'x\n'), [undefined, undefined]);
    assert.deepEqual(marks('one\n', 'one\ntwo\n'), [undefined, undefined]);
  });

  test('is none where the text is none', () => {
    for (const text of ['', 'some words', '--- \n']) assert.equal(readPatch(text), null, JSON.stringify(text));
  });
});

test('two columns have each line that went beside one that came', () => {
  const [{ hunks }] = readPatch('--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n a\n-b\n-c\n+B\n d\n');
  assert.deepEqual(
    pairs(hunks[0].rows).map(pair => pair.map(r => r?.text ?? null)),
    [
      ['a', 'a'],
      ['b', 'B'],
      ['c', null],
      ['d', 'd'],
    ],
  );
  assert.deepEqual([side(hunks, 'add'), side(hunks, 'del')], ['a\nb\nc\nd', 'a\nB\nd']);
});

test('colours belong to the lines of their side, and a line whose text is another one has none', () => {
  const [{ hunks }] = readPatch('--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n');
  const line = text => [{ text, hue: 'keyword' }];
  const of = (old, now) => [...colored(hunks, old, now)].map(([row, pieces]) => [row.text, pieces[0].text]);
  assert.deepEqual(of([line('a'), line('b')], [line('a'), line('B')]), [
    ['a', 'a'],
    ['b', 'b'],
    ['B', 'B'],
  ]);
  assert.deepEqual(of([line('a'), line('other')], null), []);
});

test('a line is cut at the borders of colours and of marks', () => {
  const row = { kind: 'add', old: null, new: 1, text: 'let x = 1', marks: [[4, 7]] };
  assert.deepEqual(segments(row, [{ text: 'let', hue: 'keyword' }, { text: ' x = ' }, { text: '1', hue: 'constant' }]), [
    { text: 'let', hue: 'keyword', marked: false },
    { text: ' ', hue: undefined, marked: false },
    { text: 'x =', hue: undefined, marked: true },
    { text: ' ', hue: undefined, marked: false },
    { text: '1', hue: 'constant', marked: false },
  ]);
  assert.deepEqual(segments({ text: 'plain' }, undefined), [{ text: 'plain', hue: undefined, marked: false }]);
});

describe('the input of an edit', () => {
  const told = input =>
    (readPatch(editsIn(input)) ?? []).map(f => [
      f.path,
      f.change,
      rows(f.hunks).map(
        r =>
          r[0] +
          r
            .split(' ')
            .slice(r[0] === ' ' ? 3 : 2)
            .join(' '),
      ),
    ]);

  for (const [name, input, want] of [
    ['an old and a new text', { file_path: '/w/a', old_string: 'x', new_string: 'y' }, [['/w/a', 'modified', ['-x', '+y']]]],
    ['the same in other words', { path: 'a', oldText: 'x', newText: 'y' }, [['a', 'modified', ['-x', '+y']]]],
    [
      'several edits',
      {
        path: 'a',
        edits: [
          { old_string: 'x', new_string: 'y' },
          { path: 'b', old_string: '1', new_string: '2' },
        ],
      },
      [
        ['a', 'modified', ['-x', '+y']],
        ['b', 'modified', ['-1', '+2']],
      ],
    ],
    ['a whole file', { path: 'a', content: 'x' }, [['a', 'created', ['+x']]]],
    ['a unified diff', { path: 'a', diff: '@@ -1 +1 @@\n-x\n+y\n' }, [['a', 'modified', ['-x', '+y']]]],
    [
      'the patch of apply_patch',
      { input: '*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+new\n*** End Patch' },
      [
        ['a', 'modified', ['-x', '+y']],
        ['b', 'created', ['+new']],
      ],
    ],
    [
      'changes of Codex',
      {
        changes: [
          { path: 'a', kind: { type: 'add' }, diff: 'x\n' },
          { path: 'b', kind: 'delete', diff: 'y\n' },
        ],
      },
      [
        ['a', 'created', ['+x']],
        ['b', 'deleted', ['-y']],
      ],
    ],
    ['nothing that changes', { path: 'a' }, []],
  ])
    test(name, () => assert.deepEqual(told(input), want));
});
