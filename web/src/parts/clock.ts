// How long something took: as the gateway says, else as far as this page has seen it.
import { useEffect, useState, useSyncExternalStore } from 'react';

const begun = new Map<string, number>(),
  took = new Map<string, number>();
const readers = new Set<() => void>();
const subscribe = (changed: () => void) => {
  readers.add(changed);
  return () => {
    readers.delete(changed);
  };
};

/** Seconds that something runs or ran; null if nobody knows. id names it within the page; told: what the gateway says of it. */
export function useSeconds(id: string, running: boolean, told: { started_at?: string; duration_ms?: number } = {}): number | null {
  const [now, setNow] = useState(Date.now),
    seen = useSyncExternalStore(subscribe, () => took.get(id));
  useEffect(() => {
    if (!running) {
      const from = begun.get(id);
      if (from !== undefined && !took.has(id)) {
        took.set(id, Date.now() - from);
        for (const changed of readers) changed();
      }
      return;
    }
    if (!begun.has(id)) begun.set(id, Math.min(Date.now(), Date.parse(told.started_at ?? '') || Infinity));
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [id, running, told.started_at]);
  const from = begun.get(id);
  const whole = told.duration_ms ?? seen ?? (running && from !== undefined ? now - from : null);
  return whole === null ? null : Math.max(0, Math.round(whole / 1000));
}

/** 75 as "1 min 15 s". */
export const spoken = (seconds: number) =>
  seconds < 60
    ? `${seconds} s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
      : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
