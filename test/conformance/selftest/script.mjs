// The answers of the stand-in gateway to each prompt word, as [milliseconds before, chunk] pairs.
import { USAGE } from '../cases/usage.mjs';

const CALL = { dynamic: true, providerExecuted: true };

const text = (id, words, pace = 0) => [
  [0, { type: 'text-start', id }],
  ...words.map(w => [pace, { type: 'text-delta', id, delta: w }]),
  [0, { type: 'text-end', id }],
];
const step = inner => [[0, { type: 'start-step' }], ...inner, [0, { type: 'finish-step' }]];
const words = (n, what) => Array.from({ length: n }, (_, i) => `${what} ${i} `);
const input = (id, toolName, value) => [
  [2, { type: 'tool-input-start', toolCallId: id, toolName, ...CALL }],
  ...JSON.stringify(value)
    .match(/.{1,8}/gs)
    .map(inputTextDelta => [1, { type: 'tool-input-delta', toolCallId: id, inputTextDelta }]),
  [2, { type: 'tool-input-available', toolCallId: id, toolName, input: value, ...CALL }],
];
const output = (id, value) => [[5, { type: 'tool-output-available', toolCallId: id, output: value, ...CALL }]];
const failure = (id, errorText) => [[5, { type: 'tool-output-error', toolCallId: id, errorText, ...CALL }]];

const hello = () => step(text('t1', ['Hello! I am ', 'the demo agent, ', 'and I have no model. ', 'Say help to see what I can play.'], 3));
const think = () =>
  step([
    [2, { type: 'reasoning-start', id: 'r1' }],
    ...words(3, 'thought').map(delta => [3, { type: 'reasoning-delta', id: 'r1', delta }]),
    [2, { type: 'reasoning-end', id: 'r1' }],
    ...text('t1', ['So it is: ', 'ä€😀.'], 3),
  ]);
const tool = call => [
  ...step([...input(call(1), 'Read', { path: 'README.md' }), ...output(call(1), { content: 'a readme' })]),
  ...step(text('t2', ['I have read it.'], 3)),
];
const fail = call => [
  ...step([...input(call(2), 'Bash', { command: 'false' }), ...failure(call(2), 'exit status 1')]),
  ...step(text('t3', ['That failed.'], 3)),
];
const parallel = call => [
  ...step([
    ...input(call(3), 'Grep', { pattern: 'a' }),
    ...input(call(4), 'Glob', { pattern: '*' }),
    ...output(call(4), ['b']),
    ...output(call(3), ['c']),
  ]),
  ...step(text('t4', ['Both are back.'], 3)),
];

/** The turn that this prompt asks for; ask is {permission|question: chunks per profile} where the turn waits. */
export function script(prompt, call, slowMs) {
  const word = /\b(hello|think|tool|fail|parallel|error|slow|approve|ask|usage|all)\b/.exec(prompt.toLowerCase())?.[1] ?? 'hello';
  switch (word) {
    case 'think':
      return think();
    case 'tool':
      return tool(call);
    case 'fail':
      return fail(call);
    case 'parallel':
      return parallel(call);
    case 'error':
      return [
        ...step(text('t1', ['It goes ', 'wrong.'], 3)),
        [0, { type: 'data-error', id: 'e', data: { message: 'The demo agent failed, as you asked.' } }],
        [0, { type: 'error', errorText: 'The demo agent failed, as you asked.' }],
      ];
    case 'slow':
      return step(text('t1', words(100, 'word'), slowMs / 100));
    case 'approve':
      return [
        ...step(text('t1', ['May I run Bash?'], 3)),
        [0, { type: 'start-step' }],
        ...input(call(5), 'Bash', { command: 'make' }),
        [0, { ask: 'permission', toolCallId: call(5) }],
        ...output(call(5), 'made'),
        ...step(text('t2', ['It is made.'], 3)),
      ];
    case 'ask':
      return [
        ...step(text('t1', ['Which colour?'], 3)),
        [0, { type: 'start-step' }],
        [0, { ask: 'question', toolCallId: call(6) }],
        ...step(text('t2', ['A fine colour.'], 3)),
      ];
    case 'usage':
      return step([...text('t1', ['Counting what this cost.'], 3), [0, { type: 'data-usage', id: 'usage-turn', data: USAGE }]]);
    case 'all':
      return [...think(), ...tool(call), ...fail(call), ...parallel(call), ...step(text('t9', words(30, 'word'), slowMs / 300))];
    default:
      return hello();
  }
}
