// The input of a call for a person. test/conformance/chat-input.test.mjs tries thousands of inputs; these are the forms that agents use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputText, inputView, jsonLines, requestText } from '../dist/input.js';

test('a command is the command, and the other keys are the rest', () => {
  assert.deepEqual(inputView({ command: 'ls', timeout: 5 }), { changes: [], texts: [], command: 'ls', rest: '{\n  "timeout": 5\n}' });
});

test('an edit, a new file and a list of edits are changes', () => {
  const change = (before, after) => [{ path: 'a.txt', before, after }];
  assert.deepEqual(inputView({ file_path: 'a.txt', old_string: 'x', new_string: 'y' }), { changes: change('x', 'y'), texts: [] });
  assert.deepEqual(inputView({ path: 'a.txt', content: 'x' }), { changes: change('', 'x'), texts: [] });
  assert.deepEqual(inputView({ path: 'a.txt', edits: [{ oldText: 'x', newText: 'y' }] }), { changes: change('x', 'y'), texts: [] });
  assert.deepEqual(
    inputView({ path: 'a.txt', edits: [{ oldText: 'x', newText: 'y', all: true }] }).changes,
    [],
    'a key that the change would not show',
  );
  assert.deepEqual(inputView({ path: 'a.txt', old_string: 'x', new_string: 'x' }).changes, [], 'a change that would show nothing');
});

test('a text of several lines has its key; nothing and an empty object differ', () => {
  assert.deepEqual(inputView({ body: 'a\nb' }), { changes: [], texts: [{ key: 'body', text: 'a\nb' }] });
  assert.deepEqual(inputView('a\nb'), { changes: [], texts: [{ key: '', text: 'a\nb' }] });
  assert.deepEqual(inputView(undefined), { changes: [], texts: [] });
  assert.deepEqual(inputView({}), { changes: [], texts: [], rest: '{}' });
});

test('lines of JSON are JSON, at any depth', () => {
  const value = { a: [1, 'x'], b: { c: null, d: true }, e: [] };
  assert.equal(jsonLines(value), '{\n  "a": [1, "x"],\n  "b": {"c": null, "d": true},\n  "e": []\n}');
  let deep = 'x';
  for (let i = 0; i < 20_000; i++) deep = [deep];
  assert.equal(jsonLines(deep).replace(/\s/g, ''), `${'['.repeat(20_000)}"x"${']'.repeat(20_000)}`);
});

test('the text of the gateway stands for an input that JSON.parse changes', () => {
  assert.equal(inputText({ n: 1 }, '{"n":1.0}'), '{"n":1.0}');
  assert.equal(requestText({ kind: 'permission', title: 'Run', input: { n: 1 }, input_text: undefined }), 'Run\n{\n  "n": 1\n}');
  assert.equal(requestText({ kind: 'question', title: 'Short', text: 'Long?', input: undefined }), 'Long?');
});
