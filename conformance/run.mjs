#!/usr/bin/env node
// Runs every case with every real client, both ways, against the real gateway, and prints a table.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openWindow, visit } from './lib/browser.mjs';
import { CLIENTS, chosen, load } from './lib/clients.mjs';
import { WAYS } from './lib/drive.mjs';
import { expectedFailures, judge } from './lib/expected.mjs';
import { http, start } from './lib/server.mjs';
import { table } from './lib/table.mjs';
import { Trial } from './lib/trial.mjs';

const USAGE = `usage: node run.mjs [options]
  --binary F        the gateway to start (default ../bin/tributary)
  --url U --token T a gateway that runs already, instead of --binary
  --case C          only these cases, repeatable (default all of cases/)
  --client C        only these clients: 5.0.0 … 7.0.173, or a major; repeatable
  --way W           only chat (the Chat class) or hook (useChat); repeatable
  --profile P       only none (no ?client=) or own (?client=<major>); repeatable
  --jobs N          trials at the same time (default 48; they mostly wait)
  --later           also the cases marked later: what the gateway does not do yet
  --verbose         also print what the clients write to the console
  --list            print the cases
The last line says "N passed, N failed, N skipped"; exit status 0 when nothing failed, 1 otherwise, 2 on bad usage.`;

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);

async function loadCases(only) {
  const names = fs.readdirSync(path.join(HERE, 'cases')).filter(f => f.endsWith('.mjs')).map(f => f.slice(0, -4));
  const unknown = (only ?? []).filter(c => !names.includes(c));
  if (unknown.length) throw new Error(`no case ${unknown.join(', ')}: choose from ${names.join(', ')}`);
  const cases = await Promise.all(names.filter(n => !only?.length || only.includes(n))
    .map(async name => ({ name, ...(await import(`./cases/${name}.mjs`)).default })));
  return cases.sort((a, b) => (a.order ?? 50) - (b.order ?? 50) || a.name.localeCompare(b.name));
}

async function main() {
  let o, cases, clients;
  try {
    const many = { type: 'string', multiple: true }, one = { type: 'string' };
    o = parseArgs({ options: {
      binary: one, url: one, token: one, jobs: one, case: many, client: many, way: many, profile: many,
      expected: one, list: { type: 'boolean' }, verbose: { type: 'boolean' }, later: { type: 'boolean' }, help: { type: 'boolean' },
    } }).values;
    if (o.help) { console.log(USAGE); return 0; }
    cases = await loadCases(o.case);
    clients = chosen(o.client);
  } catch (e) { console.error(`${e.message}\n${USAGE}`); return 2; }
  if (o.list) { for (const c of cases) console.log(`${c.name.padEnd(24)} ${c.about}${c.later ? ` (later: ${c.later})` : ''}`); return 0; }
  const ways = WAYS.filter(w => !o.way || o.way.includes(w));
  const profiles = ['none', 'own'].filter(p => !o.profile || o.profile.includes(p));

  const known = expectedFailures(o.expected);
  const all = await Promise.all(clients.map(load));
  const server = o.url
    ? { base: new URL(o.url).origin, token: o.token, stop: async () => {}, stderr: () => '', alive: () => true }
    : await start(o.binary ?? path.join(HERE, '../bin/tributary'));
  const closeWindow = openWindow();
  // A page would only log what a client leaves unhandled; here it counts as said.
  process.on('unhandledRejection', e => console.error(e));
  const said = o.verbose ? () => 0 : hush();
  try {
    await visit(server.base, server.token);
    const plan = cases.flatMap(testCase => profiles.flatMap(profile => all.flatMap(client => ways.map(way => ({ testCase, client, way, profile })))));
    const results = await runAll(plan, { site: http(server), known, later: o.later || o.case?.length > 0, jobs: Number(o.jobs ?? 48), alive: server.alive });
    return report(results, { known, clients, ways, whole: !o.case && !o.client && !o.way && !o.profile, server, said });
  } finally {
    await server.stop();
    await closeWindow();
  }
}

// The clients log errors of their own to the console; that is no news where the case expects them.
function hush() {
  let lines = 0;
  console.error = console.warn = () => { lines++; };
  return () => lines;
}

async function runAll(plan, { site, known, later, jobs, alive }) {
  const results = new Array(plan.length), shared = new Map();
  let next = 0;
  const work = async () => {
    while (next < plan.length) {
      const i = next++, { testCase, client, way, profile } = plan[i];
      const at = { case: testCase.name, client: client.name, way, profile };
      const reason = testCase.skip?.({ client, way, profile }) ?? (testCase.later && !later ? `comes later: ${testCase.later}` : null);
      const trial = new Trial({ site, client, way, profile, shared });
      if (reason) trial.skipped = reason;
      else if (!alive()) trial.failures.push({ check: 'runs to its end', detail: 'the gateway is not running any more' });
      else await trial.run(testCase);
      results[i] = { ...at, ms: trial.ms, ...judge(trial, known.get(`${at.case} ${at.client} ${at.way} ${at.profile}`)) };
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
  return results;
}

function report(results, { known, clients, ways, whole, server, said }) {
  const of = outcome => results.filter(r => r.outcome === outcome);
  let failed = of('failed').length;
  console.log(table(results, clients, ways));
  console.log(`\neach cell: ${ways.join('/')}; known = an expected failure of the client itself\n`);
  const reasons = new Map();
  for (const r of of('failed')) {
    const key = `${r.case}\0${r.why}`;
    if (!reasons.has(key)) reasons.set(key, []);
    reasons.get(key).push(`${r.client}/${r.way}/${r.profile}`);
  }
  for (const [key, who] of reasons) {
    const [name, why] = key.split('\0');
    console.log(`FAIL ${name} (${who.join(' ')})\n      ${why}`);
  }
  if (whole) {
    const run = new Set(results.map(r => `${r.case} ${r.client} ${r.way} ${r.profile}`));
    for (const key of known.keys()) if (!run.has(key)) { failed++; console.log(`FAIL ${key} stands in expected-failures.json, but no such trial exists`); }
  }
  if (failed && server.stderr()) console.log(`the end of the gateway's log:\n${server.stderr()}`);
  if (said()) console.log(`the clients wrote ${said()} lines to console.error or console.warn; --verbose prints them`);
  const expected = of('expected').length, passed = of('passed').length + expected;
  if (expected) console.log(`${expected} of the passed failed exactly as expected-failures.json says`);
  console.log(`${passed} passed, ${failed} failed, ${of('skipped').length} skipped`);
  return failed ? 1 : 0;
}

process.exitCode = await main().catch(e => { process.stderr.write(`${e.stack}\n`); return 1; });
setTimeout(() => process.exit(), 500).unref();
