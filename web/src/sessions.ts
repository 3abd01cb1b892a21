// The list of sessions, asked for again every few seconds while the page is seen: events tell of the one session that is open.
import { useCallback, useEffect, useState } from 'react';
import { listSessions, type Session } from './api';

const EVERY = 3000, PAGE = 100, MOST = 1000;

export interface Sessions { list: Session[] | null; problem: string | null; refresh: () => void; more: (() => void) | null }

export function useSessions(): Sessions {
  const [list, setList] = useState<Session[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [limit, setLimit] = useState(PAGE);
  const [older, setOlder] = useState(false);
  const refresh = useCallback(() => {
    listSessions(limit).then(
      ({ sessions, more }) => { setList(old => (JSON.stringify(old) === JSON.stringify(sessions) ? old : sessions)); setOlder(more); setProblem(null); },
      (e: Error) => setProblem(e.message),
    );
  }, [limit]);
  useEffect(() => {
    refresh();
    const tick = () => { if (document.visibilityState === 'visible') refresh(); };
    const timer = setInterval(tick, EVERY);
    document.addEventListener('visibilitychange', tick);
    return () => { clearInterval(timer); document.removeEventListener('visibilitychange', tick); };
  }, [refresh]);
  const more = useCallback(() => setLimit(n => Math.min(MOST, n + PAGE)), []);
  return { list, problem, refresh, more: older && limit < MOST ? more : null };
}
