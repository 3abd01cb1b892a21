// The table of a run: one row a case and profile, one column a client, one mark a way.
const MARK = { passed: 'ok', expected: 'known', failed: 'FAIL', skipped: '-' };

export function table(results, clients, ways) {
  const rows = new Map();
  for (const r of results) {
    const key = `${r.case}\0${r.profile}`;
    if (!rows.has(key)) rows.set(key, new Map());
    rows.get(key).set(`${r.client} ${r.way}`, MARK[r.outcome]);
  }
  const lines = [['case', 'profile', ...clients]];
  for (const [key, cells] of rows) {
    const [name, profile] = key.split('\0');
    lines.push([name, profile, ...clients.map(c => {
      const marks = ways.map(w => cells.get(`${c} ${w}`) ?? '-');
      return new Set(marks).size === 1 ? marks[0] : marks.join('/');
    })]);
  }
  const width = lines[0].map((_, i) => Math.max(...lines.map(l => l[i].length)));
  return lines.map(l => l.map((cell, i) => cell.padEnd(width[i])).join('  ').trimEnd()).join('\n');
}
