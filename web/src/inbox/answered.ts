// The requests that wait, as the page reads them when the list of sessions says that they have changed.
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Session } from '../api/api';
import { onRequests } from '../api/sessions';
import type { Answer } from '@tributary/chat';
import { answerRequest, listRequests, type Request } from '../api/requests';
import { decision } from '../ask/words';

/** A request, and how it was decided if it waits no longer. */
export interface Item {
  request: Request;
  decided?: string;
}

export interface Waiting {
  items: Item[] | null;
  problem: string | null;
  give: (request: Request, answer: Answer) => Promise<void>;
  dismiss: (id: string) => void;
}

/** The requests of all sessions, or of one. Those that were answered while they were shown stay until they are dismissed. */
export function useWaiting(sessions: Session[] | null, session?: string): Waiting {
  const [items, setItems] = useState<Item[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const key = useMemo(
    () =>
      sessions === null
        ? null
        : sessions
            .filter(s => session === undefined || s.id === session)
            .flatMap(s => s.waiting ?? [])
            .sort()
            .join(' '),
    [sessions, session],
  );
  const [tries, setTries] = useState(0);
  useEffect(() => onRequests(() => setTries(n => n + 1)), []);
  useEffect(() => {
    if (key === null) return;
    let here = true;
    listRequests(session).then(
      now => {
        if (!here) return;
        setProblem(null);
        setItems(before => [
          ...(before ?? []).map(i =>
            i.decided || now.some(r => r.id === i.request.id)
              ? i
              : { ...i, decided: 'It waits no longer: somebody else has answered it, or the turn is over.' },
          ),
          ...now.filter(r => !before?.some(i => i.request.id === r.id)).map(request => ({ request })),
        ]);
      },
      (e: Error) => {
        if (here) setProblem(e.message);
      },
    );
    return () => {
      here = false;
    };
  }, [key, session, tries]);
  const give = useCallback(async (request: Request, answer: Answer) => {
    try {
      await answerRequest(request, answer);
      setItems(now => now?.map(i => (i.request.id === request.id ? { ...i, decided: decision(request, answer) } : i)) ?? null);
    } catch (e) {
      setTries(n => n + 1);
      throw e;
    }
  }, []);
  const dismiss = useCallback((id: string) => setItems(now => now?.filter(i => i.request.id !== id) ?? null), []);
  return { items, problem, give, dismiss };
}
