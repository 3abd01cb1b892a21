import { textOf, type Line } from '../code/line';
import type { Hunk, Row } from './patch';

/** Two rows side by side; null: nothing stands there. */
export type Pair = [left: Row | null, right: Row | null];

/** The rows of a hunk for a view with two columns. */
export function pairs(rows: Row[]): Pair[] {
  const all: Pair[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i]!;
    if (row.kind === 'same') {
      all.push([row, row]);
      i++;
      continue;
    }
    const gone: Row[] = [],
      came: Row[] = [];
    while (rows[i]?.kind === 'del') gone.push(rows[i++]!);
    while (rows[i]?.kind === 'add') came.push(rows[i++]!);
    for (let k = 0; k < Math.max(gone.length, came.length); k++) all.push([gone[k] ?? null, came[k] ?? null]);
  }
  return all;
}

/** The text of one side of all hunks, to be coloured as one code. */
export const side = (hunks: Hunk[], without: Row['kind']) =>
  hunks
    .flatMap(h => h.rows)
    .filter(r => r.kind !== without)
    .map(r => r.text)
    .join('\n');

/** Which line of the coloured sides belongs to which row. */
export function colored(hunks: Hunk[], old: Line[] | null, now: Line[] | null): Map<Row, Line> {
  const lines = new Map<Row, Line>();
  let a = 0,
    b = 0;
  for (const row of hunks.flatMap(h => h.rows)) {
    const line = row.kind === 'del' ? old?.[a] : now?.[b];
    if (row.kind !== 'add') a++;
    if (row.kind !== 'del') b++;
    if (line && textOf(line) === row.text) lines.set(row, line);
  }
  return lines;
}

export interface Segment {
  text: string;
  hue?: string;
  marked: boolean;
}

/** A line cut at the borders of its colours and of its marks. */
export function segments(row: Row, line: Line | undefined): Segment[] {
  const all: Segment[] = [];
  const isMarked = (at: number) => row.marks?.some(([from, to]) => at >= from && at < to) ?? false;
  const cuts = (row.marks ?? []).flat();
  let at = 0;
  for (const piece of line ?? [{ text: row.text, hue: undefined }]) {
    const end = at + piece.text.length;
    for (const stop of [...cuts.filter(c => c > at && c < end).sort((x, y) => x - y), end]) {
      if (stop > at) all.push({ text: row.text.slice(at, stop), hue: piece.hue, marked: isMarked(at) });
      at = stop;
    }
  }
  return all;
}
