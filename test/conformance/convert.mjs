#!/usr/bin/env node
// Converts recordings of an agent for each major, reads the streams with the real clients, and compares with what the recordings expect.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { chosen, load } from './lib/clients.mjs';
import { differences, expectations, unread } from './lib/expectation.mjs';
import { progress } from './lib/progress.mjs';
import { replay } from './lib/replay.mjs';
import { streamsOf } from './lib/sse.mjs';

const USAGE = `usage: node convert.mjs [options] [RECORDING.jsonl…]
  --binary F   whose convert is tried (default ../../bin/tributary)
  --from A     the agent that was recorded (default claude); without files, all of ../recordings/A
  --bare       recordings that expect nothing are read too: without an error, to one end, with no call left open
  --client C   only these readers: 5.0.0 … 7.0.173, or a major; repeatable
  --list       also print each trial
Each recording is converted for 5, 6 and 7. All clients read what is for 5 and for 6 (there 5 skips what asks for a
permission); what is for 7 is read by 7.
The last line says "N passed, N failed, N skipped"; exit status 0 when nothing failed, 1 otherwise, 2 on bad usage.`;

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const run = promisify(execFile),
  PROFILES = [5, 6, 7];

/** Who may meet a stream for this major: what is made for 7 goes to nobody older. */
const readers = (clients, profile) => clients.filter(c => profile < 7 || c.major >= 7);

// Why this client is not given this stream after all, or null.
const excuse = (client, profile, stream) =>
  profile === 6 && client.major === 5 && stream.includes('"type":"tool-approval-request"')
    ? 'major 5 has no approvals in its protocol; its apps use ?client=5'
    : null;

async function main() {
  let o, files, names;
  try {
    const one = { type: 'string' };
    o = parseArgs({
      allowPositionals: true,
      options: {
        binary: one,
        from: one,
        client: { type: 'string', multiple: true },
        list: { type: 'boolean' },
        bare: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    files = o.positionals;
    o = o.values;
    if (o.help) {
      console.log(USAGE);
      return 0;
    }
    names = chosen(o.client);
    const dir = path.join(HERE, '../recordings', o.from ?? 'claude');
    if (!files.length)
      files = fs
        .readdirSync(dir)
        .filter(f => /\.(jsonl|sse)$/.test(f))
        .map(f => path.join(dir, f));
    if (!files.length) throw new Error(`${dir} holds no recording`);
  } catch (e) {
    console.error(`${e.message}\n${USAGE}`);
    return 2;
  }
  const clients = await Promise.all(names.map(load)),
    binary = path.resolve(o.binary ?? path.join(HERE, '../../bin/tributary'));
  const said = console.error;
  console.error = () => {}; // the clients log error chunks
  const count = { passed: 0, failed: 0, skipped: 0 },
    failures = new Map(),
    skips = new Map();
  const fail = (what, who) => failures.set(what, [...(failures.get(what) ?? []), who]);
  let now = '';
  process.on('unhandledRejection', e => {
    count.failed++;
    fail(`${now}: a promise that nobody handles: ${e?.message ?? e}`, 'a client');
  });
  const far = progress(files.length * PROFILES.reduce((n, p) => n + readers(clients, p).length, 0));
  for (const file of files) {
    const wants = expectations(file),
      recording = path.basename(file, '.jsonl');
    for (const profile of PROFILES) {
      now = `${recording} for ${profile}`;
      const converted = await run(binary, ['convert', '--from', o.from ?? 'claude', '--client', String(profile), file], {
        maxBuffer: 1 << 28,
      }).catch(e => ({ stdout: '', stderr: e.stderr || e.message }));
      for (const client of readers(clients, profile)) {
        const skipped =
          o.bare && converted.stderr.includes('nothing happened in the recording')
            ? 'nothing happened in the recording'
            : excuse(client, profile, converted.stdout);
        let wrong = [];
        if (!skipped && converted.stderr) wrong = [`convert says: ${converted.stderr.trim()}`];
        else if (!skipped) {
          const read = await replay(client, streamsOf(converted.stdout));
          wrong = wants.length || !o.bare ? differences(wants, read, profile) : unread(read);
        }
        const outcome = skipped ? 'skipped' : wrong.length ? 'failed' : 'passed';
        count[outcome]++;
        if (skipped) skips.set(skipped, (skips.get(skipped) ?? 0) + 1);
        for (const w of wrong) fail(`${now}: ${w}`, client.name);
        if (o.list) console.log(`${outcome.padEnd(8)}${now} read by ${client.name}`);
        far.tick(now);
      }
    }
  }
  far.done();
  console.error = said;
  for (const [what, who] of failures) console.log(`FAIL ${what} (read by ${who.join(' ')})`);
  for (const [why, n] of skips) console.log(`${n} skipped: ${why}`);
  console.log(`${files.length} recordings, each for 5, 6 and 7, read by ${names.join(' ')}`);
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed || !count.passed ? 1 : 0;
}

process.exitCode = await main().catch(e => {
  process.stderr.write(`${e.stack}\n`);
  return 1;
});
setTimeout(() => process.exit(), 300).unref();
