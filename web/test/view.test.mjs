// What a message shows, and where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from './source.mjs';

const { itemsOf, wordsOf } = await source('conversation/view.ts');

const text = (words, request) => ({
  type: 'text',
  text: words,
  state: 'done',
  ...(request && { providerMetadata: { tributary: { request } } }),
});
const call = (id, kind, more = {}) => ({
  type: 'dynamic-tool',
  toolName: 'tool',
  toolCallId: id,
  state: 'output-available',
  input: {},
  output: '',
  callProviderMetadata: { tributary: { kind } },
  ...more,
});
const data = (name, value, id) => ({ type: `data-${name}`, id, data: value });
const shown = (parts, open = false) => itemsOf(parts, open).map(i => (i.type === 'part' ? (i.part.text ?? i.part.type) : i.type));

test('a text of an agent is shown, however it begins and whatever stands beside it', () => {
  const asked = call('c1', 'execute', { state: 'approval-requested', approval: { id: 'p1' } });
  const question = { type: 'tool-AskUser', toolCallId: 'q1', state: 'input-available', input: { question: 'Which colour?' } };
  for (const words of ['Permission needed: Run echo hello (Allow / Deny)', 'Permission needed: ', 'Which colour?'])
    assert.deepEqual(shown([asked, text(words, 'p1'), question]), ['call', words, 'question']);
});

test('a call that only carries a request is a request, and a call with an approval of its own is a call', () => {
  const carrier = call('permission-p1', undefined, { toolName: 'permission', state: 'approval-requested', approval: { id: 'p1' } });
  assert.deepEqual(shown([carrier]), ['request']);
  assert.deepEqual(shown([{ ...carrier, toolCallId: 'c1' }]), ['call']);
});

test('the diffs of an edit stand in its card, and those of no edit by themselves', () => {
  const [edit] = itemsOf(
    [
      call('e1', 'edit'),
      data('file-change', { path: 'a', diff: 'one', tool_call_id: 'e1' }),
      data('file-change', { path: 'b', diff: 'two', tool_call_id: 'e1' }),
    ],
    false,
  );
  assert.deepEqual(edit.diffs, ['one', 'two']);
  assert.deepEqual(shown([call('r1', 'read'), data('file-change', { path: 'a', diff: 'one', tool_call_id: 'r1' })]), [
    'call',
    'data-file-change',
  ]);
});

test('a sub-agent stands in the call that began it, with those that work for it; one without a call stands by itself', () => {
  const [first, ...more] = itemsOf(
    [call('t1'), data('subagent', { name: 'one' }, 't1'), data('subagent', { name: 'two', parent_id: 't1' }, 's2')],
    false,
  );
  assert.equal(first.subagent.data.name, 'one');
  assert.deepEqual(
    first.subagent.inside.map(t => t.data.name),
    ['two'],
  );
  assert.deepEqual(more, []);
  assert.deepEqual(shown([data('subagent', { name: 'alone' }, 's1')]), ['subagent']);
});

test('sub-agents that would work for each other stand by themselves', () => {
  assert.deepEqual(
    shown([data('subagent', { name: 'a', parent_id: 's2' }, 's1'), data('subagent', { name: 'b', parent_id: 's1' }, 's2')]),
    ['subagent', 'subagent'],
  );
  assert.deepEqual(shown([data('subagent', { name: 'own', parent_id: 's1' }, 's1')]), ['subagent']);
});

test('a plan is shown once, with its last state, and above the composer while its turn runs', () => {
  const parts = [
    data('plan', { entries: [{ content: 'go', status: 'pending' }] }),
    text('on'),
    data('plan', { entries: [{ content: 'go', status: 'completed' }] }),
  ];
  const [plan] = itemsOf(parts, false);
  assert.deepEqual(plan.entries, [{ content: 'go', status: 'completed' }]);
  assert.deepEqual(shown(parts), ['plan', 'on']);
  assert.deepEqual(shown(parts, true), ['on']);
});

test('sources that follow each other are one list; steps and usage are not drawn', () => {
  const url = n => ({ type: 'source-url', sourceId: `${n}`, url: `https://example.com/${n}` });
  const items = itemsOf([url(1), url(2), text('between'), url(3), { type: 'step-start' }, data('usage', {})], false);
  assert.deepEqual(
    items.map(i => i.sources?.map(s => s.title) ?? i.part.text),
    [['https://example.com/1', 'https://example.com/2'], 'between', ['https://example.com/3']],
  );
});

test('the words of a message are its texts, as they were written', () => {
  assert.equal(wordsOf({ parts: [text('one'), call('c'), text('two')] }), 'one\n\ntwo');
});
