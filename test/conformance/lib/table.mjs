// The table of a run: one row a case and profile, one column a client, one mark a way.
const MARK = { passed: 'ok', expected: 'known', failed: 'FAIL', skipped: '-' };

/** inTurn: one trial a case and client; the row is the case, the cell says which way and profile it was. */
export function table(results, clients, ways, inTurn) {
  const rows = new Map();
  for (const r of results) {
    const key = inTurn ? r.case : `${r.case}\0${r.profile}`;
    if (!rows.has(key)) rows.set(key, new Map());
    if (inTurn) rows.get(key).set(r.client, `${MARK[r.outcome]} ${r.way} ${r.profile}`);
    else rows.get(key).set(`${r.client} ${r.way}`, MARK[r.outcome]);
  }
  const lines = [inTurn ? ['case', ...clients] : ['case', 'profile', ...clients]];
  for (const [key, cells] of rows) {
    lines.push([
      ...key.split('\0'),
      ...clients.map(c => {
        if (inTurn) return cells.get(c) ?? '-';
        const marks = ways.map(w => cells.get(`${c} ${w}`) ?? '-');
        return new Set(marks).size === 1 ? marks[0] : marks.join('/');
      }),
    ]);
  }
  const width = lines[0].map((_, i) => Math.max(...lines.map(l => l[i].length)));
  return lines
    .map(l =>
      l
        .map((cell, i) => cell.padEnd(width[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
