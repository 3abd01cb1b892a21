// The sessions that people look for. The gateway filters and searches; the page asks again when a session has changed.
import { useEffect, useState } from 'react';
import { findSessions, isFiltered, type Filter, type Session } from './api';

/** How long a person types on, and how long changes gather, in milliseconds. */
const PAUSE = 200;

export interface Found {
  list: Session[] | null;
  more: (() => void) | null;
  problem: string | null;
}

/** The sessions of a filter; null while no filter is set. changes: a value that is another one after each change of a session. */
export function useFound(filter: Filter, changes: unknown): Found | null {
  const [grown, setGrown] = useState({ filter, limit: 100 });
  const limit = grown.filter === filter ? grown.limit : 100;
  const [found, setFound] = useState<{ filter: Filter; list: Session[]; more: boolean } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const on = isFiltered(filter);
  if (!on && found) setFound(null);
  useEffect(() => {
    if (!on) return;
    let here = true;
    const timer = setTimeout(() => {
      findSessions(filter, limit).then(
        ({ sessions, more }) => {
          if (here) {
            setFound({ filter, list: sessions, more });
            setProblem(null);
          }
        },
        (e: Error) => {
          if (here) setProblem(e.message);
        },
      );
    }, PAUSE);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [filter, limit, on, changes]);
  if (!on) return null;
  return {
    list: found?.list ?? null,
    more: found?.more && limit < 1000 ? () => setGrown({ filter, limit: Math.min(1000, limit + 100) }) : null,
    problem,
  };
}
