// Small values that the browser keeps for each session: drafts, comments, marks.
import { useCallback, useSyncExternalStore } from 'react';

/** Values of one kind by session, in the browser's storage if it has one. empty stands for no value, and is not kept. */
export class Kept<T> {
  private values = new Map<string, T>();
  private listeners = new Set<() => void>();
  constructor(
    private name: string,
    private empty: T,
    private isEmpty: (value: T) => boolean,
  ) {}

  get = (key: string): T => {
    if (!this.values.has(key)) this.values.set(key, this.stored(key));
    return this.values.get(key)!;
  };

  set = (key: string, next: (now: T) => T) => {
    const value = next(this.get(key));
    this.values.set(key, value);
    try {
      if (this.isEmpty(value)) localStorage.removeItem(this.item(key));
      else localStorage.setItem(this.item(key), JSON.stringify(value));
    } catch {
      /* no storage, or a full one: the value lasts as long as the page */
    }
    for (const changed of this.listeners) changed();
  };

  subscribe = (changed: () => void) => {
    this.listeners.add(changed);
    return () => {
      this.listeners.delete(changed);
    };
  };

  private item(key: string) {
    return `tributary-${this.name}:${key}`;
  }

  private stored(key: string): T {
    try {
      const text = localStorage.getItem(this.item(key));
      return text === null ? this.empty : (JSON.parse(text) as T);
    } catch {
      return this.empty;
    }
  }
}

/** A kept value, and its setter; the setter takes a function of the value. */
export function useKept<T>(kept: Kept<T>, key: string) {
  const value = useSyncExternalStore(kept.subscribe, () => kept.get(key));
  const set = useCallback((next: (now: T) => T) => kept.set(key, next), [kept, key]);
  return [value, set] as const;
}
