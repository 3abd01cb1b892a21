// The requests that a person sees.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pendingRequests, Requests } from '../dist/requests.js';

const asked = {
  type: 'dynamic-tool',
  toolName: 'Bash',
  toolCallId: 'c',
  state: 'approval-requested',
  input: { command: 'ls' },
  approval: { id: 'r' },
};
const answer = (...parts) => ({ id: 'm', role: 'assistant', parts });

test('only the newest message asks, and only an assistant', () => {
  assert.deepEqual(
    pendingRequests([answer(asked)]).map(({ id, kind, tool, message_id }) => [id, kind, tool, message_id]),
    [['r', 'permission', 'Bash', 'm']],
  );
  assert.deepEqual(pendingRequests([answer(asked), { id: 'u', role: 'user', parts: [] }]), []);
  assert.deepEqual(pendingRequests([]), []);
  assert.deepEqual(pendingRequests([answer({ ...asked, state: 'approval-responded' })]), []);
});

test('a question has its choices; one that was answered is none', () => {
  const question = {
    type: 'tool-AskUser',
    toolCallId: 'q',
    state: 'input-available',
    input: { question: 'Which?', choices: [{ label: 'green' }], header: 'Colour' },
  };
  const [{ id, kind, title, text, choices }] = pendingRequests([answer(question)]);
  assert.deepEqual([id, kind, title, text, choices], ['q', 'question', 'Colour', 'Which?', [{ label: 'green' }]]);
  assert.deepEqual(pendingRequests([answer({ ...question, state: 'output-available', output: 'green' })]), []);
});

/** Requests whose gateway answers when the test says so. */
function beside() {
  const loads = [],
    changes = [];
  const requests = new Requests(
    () =>
      new Promise((resolve, reject) => {
        loads.push({ resolve, reject });
      }),
    () => changes.push(requests.among([answer(asked)])),
  );
  requests.ask([answer(asked)]);
  return { requests, loads, changes };
}
const settled = () =>
  new Promise(resolve => {
    setImmediate(resolve);
  });

test('what the gateway says of a request is added to it, and is asked once', async () => {
  const { requests, loads, changes } = beside();
  assert.equal(requests.among([answer(asked)])[0].may_answer, undefined, 'nothing is known yet');
  loads[0].resolve([
    { id: 'r', kind: 'permission', message_id: 'm', title: 'Run ls', may_answer: false, options: [{ id: 'o', name: 'Allow' }] },
  ]);
  await settled();
  const [[{ title, may_answer, options, tool }]] = changes;
  assert.deepEqual([title, may_answer, options.length, tool], ['Run ls', false, 1, 'Bash']);
  requests.ask([answer(asked)]);
  assert.equal(loads.length, 1);
});

test('without an answer of the gateway a person may say yes and no', async () => {
  const { loads, changes } = beside();
  loads[0].reject(new Error('lost'));
  await settled();
  assert.equal(changes[0][0].may_answer, true);
});

test('a request that was answered here is not shown, though its message shows it still', () => {
  const { requests, changes } = beside();
  requests.answered('r');
  assert.deepEqual([requests.among([answer(asked)]), changes], [[], [[]]]);
});

test('while a message asks, what else waits in the session is told, too', async () => {
  const { requests, loads } = beside();
  const other = { id: 'q', kind: 'question', message_id: 'm', title: 'Which?', may_answer: true };
  loads[0].resolve([{ id: 'r', kind: 'permission', message_id: 'm', title: 'Run ls', may_answer: true }, other]);
  await settled();
  const ids = (...parts) => requests.among([answer(...parts)]).map(({ id }) => id);
  assert.deepEqual(ids(asked), ['r', 'q']);
  assert.deepEqual(ids({ ...asked, state: 'output-denied' }), [], 'the turn has gone on, and its stream shows the rest');
  requests.answered('q');
  assert.deepEqual(ids(asked), ['r']);
  requests.ask([answer(asked)]);
  assert.equal(loads.length, 1);
  requests.changed();
  requests.ask([answer(asked)]);
  assert.equal(loads.length, 2, 'the session has changed');
});
