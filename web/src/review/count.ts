// How many files an agent has changed in a session, for the header. The conversation keeps the numbers up to date.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { UIMessage } from 'ai';
import { inputOf, kindOf, pathIn } from '../parts/tool/kind';
import { isCall } from '../conversation/view';

const known = new Map<string, number>(),
  readers = new Set<() => void>();
const read = new WeakMap<UIMessage, string[]>();

const CHANGES = ['created', 'deleted', 'moved', 'modified'] as const;

export interface Said {
  path: string;
  change: (typeof CHANGES)[number];
  tool_call_id?: string;
  diff?: string;
}

/** The change of a file that a part tells, if it does. */
export function changeIn(part: UIMessage['parts'][number]): Said | null {
  const {
    path,
    change,
    tool_call_id: call,
    diff,
  } = (part.type === 'data-file-change' && (part as { data: Partial<Record<keyof Said, unknown>> | null }).data) || {};
  const word = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return typeof path === 'string'
    ? { path, change: CHANGES.find(c => c === change) ?? 'modified', tool_call_id: word(call), diff: word(diff) }
    : null;
}

/** The files that a message says were changed. */
function filesIn(message: UIMessage): string[] {
  const before = read.get(message);
  if (before) return before;
  const paths = message.parts.flatMap(part => {
    const said = changeIn(part);
    if (said) return [said.path];
    if (!isCall(part) || part.state !== 'output-available' || part.preliminary || kindOf(part) !== 'edit') return [];
    return pathIn(inputOf(part.input)) ?? [];
  });
  read.set(message, paths);
  return paths;
}

/** Keeps the number of a session. A message that has not changed is not read again. */
export function useCountChanges(session: string, messages: UIMessage[]) {
  const count = useMemo(() => new Set(messages.flatMap(filesIn)).size, [messages]);
  useEffect(() => {
    known.set(session, count);
    for (const tell of readers) tell();
  }, [session, count]);
}

const subscribe = (tell: () => void) => {
  readers.add(tell);
  return () => {
    readers.delete(tell);
  };
};

export const useChangeCount = (session: string) => useSyncExternalStore(subscribe, () => known.get(session) ?? 0);
