// The run with a real Claude Code is red, by the right case, when what the agent says is damaged on its way; and it leaves nothing behind.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { commandOf } from '../lib/real.mjs';

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
const BINARY = process.env.TRIBUTARY_BINARY ?? path.join(ROOT, '../../bin/tributary');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'self-'));
const env = { ...process.env, TMPDIR: dir };
const args = ['run.mjs', '--agent', 'claude', '--binary', BINARY, '--client', '7.0.173', '--way', 'chat'];
test.after(() => fs.rmSync(dir, { recursive: true }));

// Every process of a run has this folder in its arguments or its environment.
const left = () =>
  execFileSync('ps', ['axeww', '-o', 'pid=,args='], { maxBuffer: 1 << 26 })
    .toString()
    .split('\n')
    .filter(l => [`HOME=${dir}/`, `--data ${dir}/`, `${dir}/agent-`].some(s => l.includes(s)));

const run = more =>
  new Promise(done =>
    execFile(process.execPath, [...args, ...more], { cwd: ROOT, env, maxBuffer: 1 << 26 }, (e, out, err) =>
      done({ code: e?.code ?? 0, out, err, last: out.trimEnd().split('\n').at(-1) }),
    ),
  );

const clean = () => {
  assert.deepEqual(left(), []);
  assert.deepEqual(
    fs.readdirSync(dir).filter(f => /^(agent|tributary-conformance)-/.test(f)),
    [],
  );
};

// What is damaged in one run, each with the check that finds it: no damage is in the words of another case.
const damages = [
  ['tool', 's/hello from a file/hello from a fire/g', 'its output is shown'],
  ['reasoning', 's/seven/eight/g', 'the reasoning is what the model thought'], // the deltas and the whole
  ['failing-tool', 's/"is_error":true/"is_error":false/g', 'the call is shown as failed'],
  ['memory', 's/Ada/Eva/g', 'the agent quotes what was said'],
];
const unstreamed = [['text', '/"text_delta"/d', 'it is shown in many pieces']]; // the text comes, but it does not stream
for (const damaged of [damages, unstreamed]) {
  const names = damaged.map(([name]) => name);
  test(`the damages of ${names.join(', ')} make these cases fail`, async () => {
    const claude = path.join(dir, `damaged-${names[0]}`);
    const script = damaged.map(([, damage]) => `-e '${damage}'`).join(' ');
    fs.writeFileSync(claude, `#!/bin/sh\n'${await commandOf('claude')}' "$@" | sed -u ${script}\n`, { mode: 0o755 });
    const r = await run([...names.flatMap(name => ['--case', name]), '--command', claude]);
    assert.equal(r.last, `0 passed, ${names.length} failed, 0 skipped`, r.out + r.err);
    for (const [name, , check] of damaged) assert.match(r.out, new RegExp(`^FAIL ${name} \\(.*\n.*${check}`, 'm'));
    assert.equal(r.code, 1);
    clean();
  });
}

test('an agent that does not start makes the run fail', async () => {
  const r = await run(['--case', 'tool', '--command', '/bin/false']);
  assert.equal(r.last, '0 passed, 1 failed, 0 skipped', r.out + r.err);
  assert.match(r.out, /claude/);
  clean();
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`after ${signal} in mid-turn nothing runs any more`, async () => {
    const child = spawn(process.execPath, [...args, '--case', 'stop'], { cwd: ROOT, env, stdio: 'ignore' });
    const over = new Promise(done => child.on('exit', done));
    const agents = () => left().filter(l => l.includes('stream-json'));
    for (const end = Date.now() + 60000; !agents().length && Date.now() < end; ) await new Promise(r => setTimeout(r, 20));
    assert.ok(agents().length, 'the agent runs');
    child.kill(signal);
    assert.equal(await over, signal === 'SIGINT' ? 130 : 143);
    clean();
  });
}
