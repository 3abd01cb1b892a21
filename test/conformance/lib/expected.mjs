// The exact list of what a client itself does wrong. Every entry must be needed: one that passes is an error too.
import fs from 'node:fs';

/** Reads the list: a map from "case client way profile" to {checks, reason, document}; empty when there is no list. */
export function expectedFailures(path) {
  const known = new Map();
  if (!path) return known;
  for (const e of JSON.parse(fs.readFileSync(path, 'utf8'))) {
    for (const key of ['case', 'clients', 'ways', 'profiles', 'checks', 'reason', 'document']) {
      if (!e[key]?.length) throw new Error(`expected-failures.json: an entry of ${e.case ?? '?'} lacks ${key}`);
    }
    for (const client of e.clients)
      for (const way of e.ways)
        for (const profile of e.profiles) {
          const key = `${e.case} ${client} ${way} ${profile}`;
          if (known.has(key)) throw new Error(`expected-failures.json: ${key} stands there twice`);
          known.set(key, { checks: [...e.checks].sort(), reason: e.reason, document: e.document });
        }
  }
  return known;
}

/** Judges one trial: {outcome: passed|expected|failed|skipped, why}. */
export function judge(found, entry) {
  if (found.skipped)
    return entry && !found.skipped.startsWith('comes later')
      ? { outcome: 'failed', why: 'stands in expected-failures.json, but is skipped' }
      : { outcome: 'skipped', why: found.skipped };
  const names = [...new Set(found.failures.map(f => f.check))].sort();
  const why = found.failures.map(f => `${f.check}${f.detail ? `: ${f.detail}` : ''}`).join('\n      ');
  if (!entry) return names.length ? { outcome: 'failed', why } : { outcome: 'passed' };
  if (!names.length)
    return { outcome: 'failed', why: `expected to fail (${entry.checks.join('; ')}), but passes: take it out of expected-failures.json` };
  if (JSON.stringify(names) !== JSON.stringify(entry.checks))
    return { outcome: 'failed', why: `fails otherwise than expected (${entry.checks.join('; ')}):\n      ${why}` };
  return { outcome: 'expected', why: entry.reason };
}
