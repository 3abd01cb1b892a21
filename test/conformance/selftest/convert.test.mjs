// convert.mjs: green where the streams are what the recording expects, red for each way in which they are not.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'harness-'));
test.after(() => fs.rmSync(dir, { recursive: true }));

const CALL = { dynamic: true, providerExecuted: true };
const chunks = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'I read.' },
  { type: 'text-end', id: 'a' },
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'Read', input: {}, ...CALL },
  { type: 'tool-output-available', toolCallId: 'c1', output: 'x', ...CALL },
  { type: 'text-start', id: 'b' },
  { type: 'text-delta', id: 'b', delta: 'Done.' },
  { type: 'text-end', id: 'b' },
  { type: 'finish-step' },
  { type: 'finish' },
];
const expected = { text: ['I read.', 'Done.'], reasoning: ['Hm.'], tools: { c1: 'completed' }, outcome: 'completed' };

// A stand-in for the binary prints the stream that lies beside the recording.
const program = path.join(dir, 'program');
// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
fs.writeFileSync(program, '#!/bin/sh\nfor last; do :; done\ncat "${last%.jsonl}.sse"\n', { mode: 0o755 });

/** Has one run read recordings, [expects, stream] by name: its exit status, and the outcomes of each recording's six trials. */
async function convert(recordings, preload = []) {
  const files = Object.entries(recordings).map(([name, [expects, stream]]) => {
    const file = path.join(dir, `${name}.jsonl`);
    fs.writeFileSync(
      file,
      [{ t: 0, dir: 'meta', cmd: 'x' }, ...expects.map(expect => ({ t: 1, dir: 'meta', expect }))]
        .map(l => `${JSON.stringify(l)}\n`)
        .join(''),
    );
    fs.writeFileSync(
      path.join(dir, `${name}.sse`),
      [...stream, '[DONE]'].map(c => `data: ${typeof c === 'string' ? c : JSON.stringify(c)}\n\n`).join(''),
    );
    return file;
  });
  const { code, out } = await new Promise(done =>
    execFile(
      process.execPath,
      [...preload, 'convert.mjs', '--list', '--binary', program, '--client', '7', ...files],
      { cwd: ROOT },
      (e, out) => done({ code: e?.code ?? 0, out }),
    ),
  );
  const of = name => [...out.matchAll(new RegExp(`^(\\w+) +${name} for \\d read by `, 'gm'))].map(([, outcome]) => outcome);
  return { code, out, of, last: out.trimEnd().split('\n').at(-1) };
}
const six = outcome => Array(6).fill(outcome);

test('a recording that is what it expects passes, also one that says it in the words of a client', async () => {
  const r = await convert({
    ours: [[expected], chunks],
    theirs: [[{ ...expected, tools: { c1: 'output-available' }, outcome: 'stop' }], chunks],
  });
  assert.equal(r.last, '12 passed, 0 failed, 0 skipped', r.out);
  assert.equal(r.code, 0);
});

const edit = (at, change) => chunks.map((c, i) => (i === at ? { ...c, ...change } : c));
const faults = [
  ['another text', [expected], edit(11, { delta: 'Dome.' })],
  ['texts in another order', [{ ...expected, text: ['Done.', 'I read.'] }], chunks],
  ['a text that nobody expects', [expected], edit(11, { delta: 'Done. And more.' })],
  ['no reasoning', [expected], chunks.filter(c => !c.type.startsWith('reasoning'))],
  ['a tool in another state', [{ ...expected, tools: { c1: 'failed' } }], chunks],
  ['a tool too many', [{ ...expected, tools: {} }], chunks],
  ['a tool that is missing', [{ ...expected, tools: { c1: 'completed', c2: 'completed' } }], chunks],
  ['a tool without an output', [expected], chunks.filter(c => c.type !== 'tool-output-available')],
  ['another ending', [{ ...expected, outcome: 'canceled' }], chunks],
  ['no ending', [expected], chunks.slice(0, -1)],
  [
    'another error',
    [{ ...expected, outcome: 'error', errorText: 'No' }],
    [...chunks.slice(0, -2), { type: 'error', errorText: 'Yes' }, ...chunks.slice(-2)],
  ],
  ['an approval that is not shown', [{ ...expected, approvals: { p1: 'approved' } }], chunks],
  ['a question that is not shown', [{ ...expected, questions: { Why: 'So' } }], chunks],
  ['a sub-agent that is not shown', [{ ...expected, subagents: { c9: { text: ['x'], outcome: 'completed' } } }], chunks],
  ['a turn that is missing', [expected, expected], chunks],
  ['a recording that expects nothing', [], chunks],
  ['a chunk no client knows', [expected], [...chunks.slice(0, 2), { type: 'step-start' }, ...chunks.slice(2)]],
];

test('every fault is found', async t => {
  const r = await convert(Object.fromEntries(faults.map(([fault, ...recording]) => [fault, recording])));
  for (const [fault] of faults) await t.test(`${fault} is found`, () => assert.deepEqual(r.of(fault), six('failed'), r.out));
  assert.equal(r.last, `0 passed, ${6 * faults.length} failed, 0 skipped`, r.out);
  assert.equal(r.code, 1);
});

test('a promise that nobody handles fails the run, in the name of the recording', async () => {
  const rejects = `process.on('newListener', name => { if (name === 'unhandledRejection') setImmediate(() => Promise.reject(new Error('nobody waits for this'))); });`;
  const r = await convert({ recording: [[expected], chunks] }, ['--import', `data:text/javascript,${encodeURIComponent(rejects)}`]);
  assert.equal(r.last, '6 passed, 1 failed, 0 skipped', r.out);
  assert.match(r.out, /FAIL recording for 5: a promise that nobody handles: nobody waits for this/);
  assert.equal(r.code, 1);
});
