import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { History } from './history';

/** The button above the first message. What the reader was looking at stays where it is when a page comes above it. */
export function Earlier({ history, box }: { history: History; box: RefObject<HTMLDivElement | null> }) {
  const [busy, setBusy] = useState(false), [problem, setProblem] = useState<string | null>(null);
  const was = useRef<number | null>(null); // how high all of it was before the page came
  useLayoutEffect(() => {
    const el = box.current;
    if (!el || was.current === null || el.scrollHeight === was.current) return;
    el.scrollTop += el.scrollHeight - was.current;
    was.current = null;
  });
  if (!history.more) return null;
  const load = async () => {
    setBusy(true);
    setProblem(null);
    was.current = box.current?.scrollHeight ?? null;
    try { await history.older(); } catch (e) { was.current = null; setProblem((e as Error).message); }
    setBusy(false);
  };
  return (
    <p className="earlier">
      <button disabled={busy} onClick={() => void load()}>{busy ? 'Loading…' : 'Earlier messages'}</button>
      {problem && <span role="alert">{problem}</span>}
    </p>
  );
}
