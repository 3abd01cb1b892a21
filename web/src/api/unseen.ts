// The sessions whose turn has ended while nobody looked. The mark is this browser's own.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Session } from './api';

const KEY = 'tributary-unseen',
  MOST = 200;
const readers = new Set<() => void>();

function kept(): string[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]') as string[];
  } catch {
    return [];
  }
}
let marks: ReadonlySet<string> = new Set(kept());

function set(next: string[]) {
  marks = new Set(next);
  try {
    localStorage.setItem(KEY, JSON.stringify(next.slice(-MOST)));
  } catch {
    /* the marks last as long as the page */
  }
  for (const changed of readers) changed();
}

addEventListener('storage', e => {
  if (e.key === KEY) {
    marks = new Set(kept());
    for (const changed of readers) changed();
  }
});

const subscribe = (changed: () => void) => {
  readers.add(changed);
  return () => {
    readers.delete(changed);
  };
};

export const useUnseen = () => useSyncExternalStore(subscribe, () => marks);

/** Marks sessions whose turn ends while they are not shown, and takes the mark away when they are. tell hears of each. */
export function useMarkUnseen(list: Session[] | null, current: string | null, tell?: (session: Session) => void) {
  const turns = useRef(new Map<string, string>());
  useEffect(() => {
    for (const s of list ?? []) {
      const before = turns.current.get(s.id),
        ended = s.last_turn ?? '',
        looking = s.id === current && document.visibilityState === 'visible';
      if (s.state === 'idle' || before === undefined) turns.current.set(s.id, ended);
      if (before !== undefined && before !== ended && s.state === 'idle' && !looking) {
        if (!marks.has(s.id)) set([...marks, s.id]);
        tell?.(s);
      }
    }
  }, [list, current, tell]);
  useEffect(() => {
    const look = () => {
      if (current !== null && marks.has(current) && document.visibilityState === 'visible') set([...marks].filter(id => id !== current));
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [list, current]);
}
