// The text and the files of a message, and texts with all of their characters visible.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesOf, textOf } from '../dist/message.js';
import { escapedJson, visiblePieces, visibleText } from '../dist/visible.js';

test('the text of a message is that of its text parts, one a line', () => {
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'file', url: 'data:,x', mediaType: 'text/plain' },
    { type: 'text', text: 'two' },
  ];
  assert.equal(textOf({ id: 'm', role: 'user', parts }), 'one\ntwo');
  assert.equal(textOf({ id: 'm', role: 'user', parts: [] }), '');
});

test('only a list of a browser is read at once', () => {
  assert.equal(filesOf([{ type: 'file' }]), undefined, 'there is no FileList here');
  globalThis.FileList = class {};
  try {
    assert.equal(filesOf([{ type: 'file' }]), undefined);
  } finally {
    delete globalThis.FileList;
  }
});

test('characters that hide or turn a text have their names in their places', () => {
  for (const [text, seen] of [
    ['a\u202eb', 'a<U+202E>b'],
    ['\u200b', '<U+200B>'],
    ['\u0007', '<U+0007>'],
    ['\u2028', '<U+2028>'],
    ['\ud800', '<U+D800>'],
    ['\u{e0041}', '<U+E0041>'],
    ['\u00ad', '<U+00AD>'],
    ['\r', '<U+000D>'],
    ['a\tb\nc', 'a\tb\nc'],
    ['ä 漢 😀', 'ä 漢 😀'],
    ['', ''],
  ])
    assert.equal(visibleText(text), seen);
});

test('the pieces of a text are the text, with its marks apart', () => {
  assert.deepEqual(visiblePieces('a\u200b\u200bb'), [
    { text: 'a', mark: false },
    { text: '<U+200B>', mark: true },
    { text: '<U+200B>', mark: true },
    { text: 'b', mark: false },
  ]);
  assert.deepEqual(visiblePieces('<U+200B>'), [{ text: '<U+200B>', mark: false }], 'a text that looks like a mark is none');
  assert.deepEqual(visiblePieces(''), []);
});

test('escaped JSON is the same value, with nothing hidden in it', () => {
  const value = { 'a\u202e': 'tag\u{e0041}' },
    json = escapedJson(JSON.stringify(value));
  assert.deepEqual(JSON.parse(json), value);
  assert.equal(visibleText(json), json);
  assert.equal(json, '{"a\\u202e":"tag\\udb40\\udc41"}');
});
