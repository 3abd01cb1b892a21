// The changes that an agent made, read from the messages of a session.
import type { UIMessage } from 'ai';
import { readPatch, type FileDiff } from '../parts/diff';
import { editsIn } from '../parts/tool/edits';
import { inputOf, kindOf } from '../parts/tool/kind';
import { isCall } from '../conversation/view';
import { changeIn } from './count';

export interface Change {
  key: string;
  turn: string;
  path: string;
  from?: string;
  change: FileDiff['change'];
  /** Missing where the agent gave no difference. */
  diff?: FileDiff;
  /** agent: its own difference. input: what a call was asked to do, whose lines have no numbers. total: all that the agent has changed in this file so far. */
  source: 'agent' | 'input' | 'total';
}

export interface Turn {
  id: string;
  prompt: string;
}

export interface File {
  path: string;
  from?: string;
  change: FileDiff['change'];
  added: number;
  removed: number;
  changes: Change[];
}

const cached = new WeakMap<UIMessage, Change[]>();

function changesIn(message: UIMessage, turn: string): Change[] {
  const before = cached.get(message);
  if (before) return before;
  const told = new Set(message.parts.flatMap(p => changeIn(p)?.tool_call_id ?? []));
  const all = message.parts.flatMap((part, i): Change[] => {
    const key = `${message.id} ${i}`;
    const said = changeIn(part);
    if (said) {
      const { path, change, tool_call_id: call, diff } = said;
      const read = diff ? readPatch(diff)?.[0] : undefined;
      return [{ key, turn, path, from: read?.from, change, diff: read, source: call ? 'agent' : 'total' }];
    }
    if (!isCall(part) || part.state !== 'output-available' || part.preliminary || told.has(part.toolCallId) || kindOf(part) !== 'edit')
      return [];
    return (readPatch(editsIn(inputOf(part.input))) ?? []).map((diff, k) => ({
      key: `${key} ${k}`,
      turn,
      path: diff.path,
      from: diff.from,
      change: diff.change,
      diff,
      source: 'input',
    }));
  });
  cached.set(message, all);
  return all;
}

/** The changes of each turn, in their order. */
export function changesOf(messages: UIMessage[]): { changes: Change[]; turns: Turn[] } {
  const turns: Turn[] = [];
  let turn: Turn = { id: '', prompt: 'Before the first message on this page' };
  const changes = messages.flatMap(m => {
    if (m.role === 'user') {
      turn = { id: m.id, prompt: m.parts.flatMap(p => (p.type === 'text' ? [p.text] : [])).join(' ') };
      return [];
    }
    const own = changesIn(m, turn.id);
    if (own.length && turns.at(-1) !== turn) turns.push(turn);
    return own;
  });
  return { changes, turns };
}

/** What all changes of a file make of it. */
function sum(path: string, changes: Change[]): File {
  const total = changes.findLastIndex(c => c.source === 'total'); // it has the earlier ones in it
  const counted = changes.slice(Math.max(0, total));
  const first = changes[0]!,
    last = changes.at(-1)!;
  const change =
    last.change === 'deleted'
      ? 'deleted'
      : first.change === 'created'
        ? 'created'
        : (changes.find(c => c.change === 'moved')?.change ?? last.change);
  return {
    path,
    change,
    changes,
    from: changes.find(c => c.from)?.from,
    added: counted.reduce((n, c) => n + (c.diff?.added ?? 0), 0),
    removed: counted.reduce((n, c) => n + (c.diff?.removed ?? 0), 0),
  };
}

/** The files of some changes, sorted as their tree shows them: folders before files. */
export function filesOf(changes: Change[]): File[] {
  const byPath = new Map<string, Change[]>();
  for (const c of changes) byPath.set(c.path, [...(byPath.get(c.path) ?? []), c]);
  return [...byPath].map(([path, of]) => sum(path, of)).sort((a, b) => byFolders(a.path, b.path));
}

function byFolders(a: string, b: string): number {
  const one = a.split('/'),
    two = b.split('/');
  for (let i = 0; ; i++) {
    const oneEnds = i === one.length - 1,
      twoEnds = i === two.length - 1;
    if (oneEnds !== twoEnds) return oneEnds ? 1 : -1;
    const order = one[i]!.localeCompare(two[i]!);
    if (order || oneEnds) return order;
  }
}

/** A name of what a file's changes are now, so that a mark on the file ends with the next change. */
export const stateOf = (file: File) => `${file.changes.length} ${file.added} ${file.removed} ${file.change}`;
