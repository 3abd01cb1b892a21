// The sessions that people look for. The gateway filters and searches; the page asks again when a session has changed.
import { useEffect, useState } from 'react';
import { findSessions, isFiltered, type Filter, type Session } from './api';

/** How long a person types on, and how long changes gather, in milliseconds. */
const PAUSE = 200;

export interface Found { list: Session[] | null; more: (() => void) | null; problem: string | null }

/** The sessions of a filter; null while no filter is set. changes: a value that is another one after each change of a session. */
export function useFound(filter: Filter, changes: unknown): Found | null {
  const [limit, setLimit] = useState(100);
  const [found, setFound] = useState<{ filter: Filter; list: Session[]; more: boolean } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const on = isFiltered(filter);
  useEffect(() => { setLimit(100); }, [filter]);
  useEffect(() => {
    if (!on) { setFound(null); return; }
    let here = true;
    const timer = setTimeout(() => {
      findSessions(filter, limit).then(
        ({ sessions, more }) => { if (here) { setFound({ filter, list: sessions, more }); setProblem(null); } },
        (e: Error) => { if (here) setProblem(e.message); },
      );
    }, PAUSE);
    return () => { here = false; clearTimeout(timer); };
  }, [filter, limit, on, changes]);
  if (!on) return null;
  return { list: found?.list ?? null, more: found?.more && limit < 1000 ? () => setLimit(n => Math.min(1000, n + 100)) : null, problem };
}
