// How long something took: as the gateway says, else as far as this page has seen it.
import { useEffect, useState } from 'react';

const begun = new Map<string, number>(), took = new Map<string, number>();

/** Seconds that something runs or ran; null if nobody knows. id names it within the page; told: what the gateway says of it. */
export function useSeconds(id: string, running: boolean, told: { started_at?: string; duration_ms?: number } = {}): number | null {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) {
      const from = begun.get(id);
      if (from !== undefined && !took.has(id)) { took.set(id, Date.now() - from); setNow(Date.now()); }
      return;
    }
    if (!begun.has(id)) begun.set(id, Math.min(Date.now(), Date.parse(told.started_at ?? '') || Infinity));
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [id, running, told.started_at]);
  const from = begun.get(id);
  const whole = told.duration_ms ?? took.get(id) ?? (running && from !== undefined ? now - from : null);
  return whole === null ? null : Math.max(0, Math.round(whole / 1000));
}

/** 75 as "1 min 15 s". */
export const spoken = (seconds: number) => (seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`);
