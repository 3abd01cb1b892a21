// The list of sessions, asked for again every few seconds while the page is seen: no stream tells of other tabs.
import { useCallback, useEffect, useState } from 'react';
import { listSessions, type Session } from './api';

const EVERY = 3000;

export interface Sessions { list: Session[] | null; problem: string | null; refresh: () => void }

export function useSessions(): Sessions {
  const [list, setList] = useState<Session[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const refresh = useCallback(() => {
    listSessions().then(
      next => { setList(old => (JSON.stringify(old) === JSON.stringify(next) ? old : next)); setProblem(null); },
      (e: Error) => setProblem(e.message),
    );
  }, []);
  useEffect(() => {
    refresh();
    const tick = () => { if (document.visibilityState === 'visible') refresh(); };
    const timer = setInterval(tick, EVERY);
    document.addEventListener('visibilitychange', tick);
    return () => { clearInterval(timer); document.removeEventListener('visibilitychange', tick); };
  }, [refresh]);
  return { list, problem, refresh };
}
