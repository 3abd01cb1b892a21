// Reads unified diffs, and makes them of two texts.
import { diffWordsWithSpace, formatPatch, parsePatch, structuredPatch, type StructuredPatch } from 'diff';

export interface Row {
  kind: 'same' | 'add' | 'del';
  /** Numbers of the line in the old and in the new file; null where the file lacks it. */
  old: number | null;
  new: number | null;
  text: string;
  /** The parts of the line that differ from its counterpart, as offsets. */
  marks?: [from: number, to: number][];
}

export interface Hunk {
  head: string;
  rows: Row[];
}
export interface FileDiff {
  path: string;
  from?: string;
  change: 'created' | 'deleted' | 'moved' | 'modified';
  hunks: Hunk[];
  added: number;
  removed: number;
}

const MARKED = 400; // characters of a line that are compared word by word

const named = (name: string | undefined) => (name && name !== '/dev/null' ? name.replace(/^[ab]\//, '') : undefined);

/** Marks the words that differ where as many lines came as went. */
function mark(rows: Row[]) {
  for (let i = 0; i < rows.length; ) {
    const gone: Row[] = [],
      came: Row[] = [];
    while (rows[i]?.kind === 'del') gone.push(rows[i++]!);
    while (rows[i]?.kind === 'add') came.push(rows[i++]!);
    if (gone.length === came.length) for (const [k, row] of gone.entries()) markPair(row, came[k]!);
    if (!gone.length && !came.length) i++;
  }
}

function markPair(gone: Row, came: Row) {
  if (gone.text.length > MARKED || came.text.length > MARKED) return;
  let a = 0,
    b = 0,
    same = 0;
  const left: Row['marks'] = [],
    right: Row['marks'] = [];
  for (const { value, added, removed } of diffWordsWithSpace(gone.text, came.text)) {
    const n = value.length;
    if (removed) left.push([a, a + n]);
    if (added) right.push([b, b + n]);
    if (!added && !removed) same += value.trim().length;
    if (!added) a += n;
    if (!removed) b += n;
  }
  if (same * 3 < Math.max(gone.text.trim().length, came.text.trim().length)) return; // another line, not a changed one
  gone.marks = left;
  came.marks = right;
}

function fileOf(patch: StructuredPatch): FileDiff {
  const from = named(patch.oldFileName),
    to = named(patch.newFileName);
  let added = 0,
    removed = 0;
  const hunks = patch.hunks.map(h => {
    let old = h.oldStart,
      now = h.newStart;
    const rows: Row[] = [];
    for (const line of h.lines) {
      const text = line.slice(1);
      if (line[0] === '+') {
        added++;
        rows.push({ kind: 'add', old: null, new: now++, text });
      } else if (line[0] === '-') {
        removed++;
        rows.push({ kind: 'del', old: old++, new: null, text });
      } else if (line[0] !== '\\') rows.push({ kind: 'same', old: old++, new: now++, text });
    }
    mark(rows);
    return { head: `@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@`, rows };
  });
  const change =
    patch.isCreate || patch.oldFileName === '/dev/null'
      ? 'created'
      : patch.isDelete || patch.newFileName === '/dev/null'
        ? 'deleted'
        : from && to && from !== to
          ? 'moved'
          : 'modified';
  return { path: to ?? from ?? '', from: change === 'moved' ? from : undefined, change, hunks, added, removed };
}

/** The files of a patch; null if the text is none. */
export function readPatch(patch: string): FileDiff[] | null {
  try {
    const files = parsePatch(patch)
      .filter(p => p.hunks.length || p.oldFileName || p.newFileName)
      .map(fileOf);
    return files.length ? files : null;
  } catch {
    return null;
  }
}

/** The patch that makes the new text of the old one; null: there is no such file. */
export function patchOf(path: string, old: string | null, now: string | null): string {
  const made = structuredPatch(old === null ? '/dev/null' : path, now === null ? '/dev/null' : path, old ?? '', now ?? '', '', '', {
    context: 3,
    timeout: 500,
  }) as StructuredPatch | undefined;
  return made ? formatPatch(made) : '';
}
