// The harness itself: green against a gateway that does right, red against each fault, and by the right case.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { CLIENTS } from '../lib/clients.mjs';
import { full, inTurn, others } from '../lib/plan.mjs';
import { progress } from '../lib/progress.mjs';
import { streamsOf } from '../lib/sse.mjs';
import { anonymous, difference } from '../lib/message.mjs';

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
const GATEWAY = path.join(ROOT, 'selftest/gateway.mjs');
const ours = fs.mkdtempSync(path.join(os.tmpdir(), 'harness-'));
const fresh = () => fs.mkdtempSync(path.join(ours, 't-'));
test.after(() => fs.rmSync(ours, { recursive: true }));

const node = (script, args, env = {}) =>
  new Promise(done => {
    execFile(
      process.execPath,
      [script, ...args],
      { cwd: ROOT, env: { ...process.env, FAKE_SLOW: '4000', ...env }, maxBuffer: 1 << 26 },
      (e, stdout, stderr) => done({ code: e?.code ?? 0, out: stdout, err: stderr, last: stdout.trimEnd().split('\n').at(-1) }),
    );
  });
const quick = ['--binary', GATEWAY, '--client', '7.0.173', '--way', 'chat', '--profile', 'none'];

// The stand-in asks in the simplest way only, and keeps no branches: the many ways to answer, and what takes
// something back, are cases for the real gateway. Which way and profile a trial has is the same to a gateway that does right: each
// case runs once with each client, and all ways and profiles with TRIBUTARY_TEST_FULL=1.
const CASES = fs
  .readdirSync(path.join(ROOT, 'cases'))
  .filter(f => /^(?!approve|ask|edit|regenerate|replace|stale).*\.mjs$/.test(f))
  .map(f => f.slice(0, -4));

test('every case that the stand-in can do passes or fails as expected against a gateway that does right', async () => {
  const sparse = process.env.TRIBUTARY_TEST_FULL === '1' ? [] : ['--once'];
  const r = await node('run.mjs', ['--binary', GATEWAY, ...sparse, ...CASES.flatMap(c => ['--case', c])]);
  assert.match(r.last, /^\d+ passed, 0 failed, \d+ skipped$/, r.out + r.err);
  assert.equal(r.code, 0);
});

test('cases that ask somebody pass against a gateway that pauses', async () => {
  const r = await node(
    'run.mjs',
    [
      '--binary',
      GATEWAY,
      '--case',
      'approve-side',
      '--case',
      'ask-part',
      '--case',
      'ask-side',
      '--client',
      '5.0.277',
      '--client',
      '6.0.323',
      '--client',
      '7.0.173',
    ],
    { FAKE_PAUSE: '1' },
  );
  assert.match(r.last, /^\d+ passed, 0 failed, 0 skipped$/, r.out + r.err);
  assert.equal(r.code, 0);
});

for (const [fault, name] of [
  ['tail', 'reload'],
  ['history', 'history'],
  ['tool-error', 'failing-tool'],
  ['no-start', 'text'],
  ['events', 'second-tab'],
]) {
  test(`fault ${fault} makes ${name} fail`, async () => {
    const r = await node('run.mjs', [...quick, '--case', name], { FAKE_BREAK: fault });
    assert.equal(r.last, '0 passed, 1 failed, 0 skipped', r.out + r.err);
    assert.equal(r.code, 1);
  });
}

test('an expected failure that passes is an error', async () => {
  const file = path.join(fresh(), 'expected.json');
  fs.writeFileSync(
    file,
    JSON.stringify([{ case: 'text', clients: ['7.0.173'], ways: ['chat'], profiles: ['none'], checks: ['x'], reason: 'r', document: 'd' }]),
  );
  const r = await node('run.mjs', [...quick, '--case', 'text', '--expected', file]);
  assert.match(r.out, /but passes: take it out/);
  assert.equal(r.code, 1);
});

test('an expected failure that fails otherwise is an error', async () => {
  const file = path.join(fresh(), 'expected.json');
  fs.writeFileSync(
    file,
    JSON.stringify([
      { case: 'reload', clients: ['7.0.173'], ways: ['chat'], profiles: ['none'], checks: ['x'], reason: 'r', document: 'd' },
    ]),
  );
  const r = await node('run.mjs', [...quick, '--case', 'reload', '--expected', file], { FAKE_BREAK: 'tail' });
  assert.match(r.out, /fails otherwise than expected/);
  assert.equal(r.code, 1);
});

test('a forgotten await fails its case by name, also when the promise fails after the trial', async () => {
  const r = await node('run.mjs', [...quick, '--cases', 'selftest/cases']);
  assert.equal(r.last, '1 passed, 2 failed, 0 skipped', r.out + r.err);
  for (const name of ['forgotten', 'forgotten-last'])
    assert.match(r.out, new RegExp(`^FAIL ${name} \\(.*\n.*handles every promise: Error: nobody waits for this`, 'm'));
  assert.equal(r.code, 1);
});

test('a binary that prints no URL is one clear sentence', async () => {
  const r = await node('run.mjs', ['--binary', '/bin/false']);
  assert.equal(r.code, 1);
  assert.match(r.err, /printed no base URL \(exit 1\)/);
});

test('cuts are equal against a gateway that does right, and different against one that resumes by tail', async () => {
  const good = await node('cuts.mjs', ['--binary', GATEWAY, '--cuts', '60', '--turns', '2', '--after', '300', '--seed', '7']);
  assert.equal(good.last, '60 passed, 0 failed, 0 skipped', good.out + good.err);
  const bad = await node('cuts.mjs', ['--binary', GATEWAY, '--cuts', '10', '--turns', '1', '--after', '300', '--client', '7.0.173'], {
    FAKE_BREAK: 'tail',
  });
  assert.equal(bad.last, '0 passed, 10 failed, 0 skipped', bad.out + bad.err);
  assert.equal(bad.code, 1);
});

const frame = v => `data: ${typeof v === 'string' ? v : JSON.stringify(v)}\n\n`;
const turn = (id, text) =>
  [
    { type: 'start', messageId: id },
    { type: 'start-step' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: text },
    { type: 'text-end', id: 't' },
    { type: 'finish-step' },
    { type: 'finish' },
    '[DONE]',
  ]
    .map(frame)
    .join('');

test('replay reads several streams and tells what each client made of them', async () => {
  const dir = fresh();
  const good = path.join(dir, 'good.sse'),
    bad = path.join(dir, 'bad.sse');
  fs.writeFileSync(
    good,
    turn('m1', 'one, data: [DONE]\n\n') +
      turn('m2', 'two') +
      [{ type: 'start', messageId: 'm3' }, { type: 'error', errorText: 'no' }, '[DONE]'].map(frame).join(''),
  );
  const r = await node('replay.mjs', [good]);
  const report = JSON.parse(r.out);
  assert.equal(r.code, 0, r.out);
  assert.deepEqual(
    report.files[0].turns.map(t => [t.text, t.ending]),
    [
      ['one, data: [DONE]\n\n', 'finish'],
      ['two', 'finish'],
      ['', 'error'],
    ],
  );
  assert.equal(report.clients.length, 6);
  for (const broken of [
    turn('m1', 'x') + turn('m1', 'y'),
    turn('m1', 'x').replace('"start-step"', '"step-start"'),
    turn('m1', 'x').replace(frame('[DONE]'), ''),
    turn('m1', 'x').replace(frame({ type: 'text-end', id: 't' }), ''),
    '',
  ]) {
    fs.writeFileSync(bad, broken);
    const b = await node('replay.mjs', [bad]);
    assert.equal(b.code, 1, `${broken}\n${b.out}`);
  }
});

test('streams are split at [DONE] frames only', () => {
  assert.deepEqual(streamsOf('data: 1\n\ndata: [DONE]\n\ndata: 2\r\n\r\ndata: [DONE]\r\n\r\n'), [
    'data: 1\n\ndata: [DONE]\n\n',
    'data: 2\r\n\r\ndata: [DONE]\r\n\r\n',
  ]);
  assert.deepEqual(streamsOf('data: "[DONE]"\n\n'), ['data: "[DONE]"\n\n']);
  assert.deepEqual(streamsOf(''), []);
});

test('messages compare by the order of their ids, and differences name their place', () => {
  const m = (a, b) => ({
    role: 'assistant',
    id: a,
    parts: [
      { type: 'dynamic-tool', toolCallId: a },
      { type: 'dynamic-tool', toolCallId: b },
    ],
  });
  assert.equal(difference(anonymous(m('a', 'b')), anonymous(m('x', 'y'))), null);
  assert.match(difference(anonymous(m('a', 'a')), anonymous(m('x', 'y'))), /^parts\.1\.toolCallId/);
  assert.match(difference({ a: 'hello' }, { a: 'help' }), /a differs at character 3/);
});

test('a plan in turn holds every case with every client once, and gives each client all ways and profiles', () => {
  const skip = ({ client, profile }) => (client.major === 5 && profile === 'none' ? 'no' : null);
  const cases = ['a', 'b', 'c', 'resume-with-query', 'e'].map((name, number) => ({ name, number, ...(name === 'e' ? { skip } : {}) }));
  const plan = inTurn(cases, CLIENTS, ['chat', 'hook'], ['none', 'own']);
  assert.equal(new Set(plan.map(t => `${t.testCase.name} ${t.client.name}`)).size, plan.length);
  assert.equal(plan.length, 30);
  for (const c of CLIENTS) assert.equal(new Set(plan.filter(t => t.client === c).map(t => `${t.way} ${t.profile}`)).size, 4, c.name);
  for (const c of cases.slice(0, 4))
    assert.equal(new Set(plan.filter(t => t.testCase === c).map(t => `${t.way} ${t.profile}`)).size, 4, c.name);
  assert.deepEqual(
    plan.filter(t => t.testCase.skip?.(t)),
    [],
  );
  const of = [cases, CLIENTS, ['chat', 'hook'], ['none', 'own']],
    name = t => `${t.testCase.name} ${t.client.name} ${t.way} ${t.profile}`,
    names = trials => trials.map(name).sort(),
    planned = new Set(plan.map(name)),
    repeats = t => t.client.major === 6 && t.profile === 'own' && t.testCase.name !== 'resume-with-query' && !planned.has(name(t));
  assert.deepEqual(
    names([...plan, ...others(...of)]),
    names(full(...of).filter(t => !repeats(t))),
    'the others are all that it leaves out, but for those with the bytes of another one',
  );
  const only = inTurn(cases.slice(4), CLIENTS, ['hook'], ['none']);
  assert.deepEqual(
    only.map(t => Boolean(t.testCase.skip(t))),
    [true, true, false, false, false, false],
  );
});

test('progress is a line a trial on a terminal, and silent for a short run elsewhere', () => {
  const lines = [],
    write = l => {
      lines.push(l);
    };
  for (const isTTY of [true, false]) {
    const p = progress(2, { out: { isTTY, write }, now: () => 0 });
    p.tick('one');
    p.tick('two');
    p.done();
  }
  assert.deepEqual(lines, ['1/2 after 0 s, one\n', '2/2 after 0 s, two\n']);
});
