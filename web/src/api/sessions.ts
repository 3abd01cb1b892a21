// The list of sessions, as GET /api/events pushes it.
import { useCallback, useEffect, useState } from 'react';
import { problemOf, readSession, transport, type Problem, type Session } from './api';
import { onRefused, onSignedIn } from './signin';

const PAGE = 100,
  MOST = 1000,
  REQUESTS = 'tributary-requests';

/** Calls told when other requests may wait in sessions that this person decides on and does not see, until the function that is returned is called. */
export const onRequests = (told: () => void) => {
  addEventListener(REQUESTS, told);
  return () => removeEventListener(REQUESTS, told);
};

export interface Sessions {
  list: Session[] | null;
  problem: Problem | null;
  more: (() => void) | null;
}

/** The list with a session that is new or has changed, the last changed first. */
const placed = (list: Session[], s: Session) =>
  [s, ...list.filter(o => o.id !== s.id)].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));

/** hidden: whether a tab that is not seen reads the list, too. */
export function useSessions(hidden?: () => boolean): Sessions {
  const [list, setList] = useState<Session[] | null>(null);
  const [limit, setLimit] = useState(PAGE);
  const [older, setOlder] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const end = new AbortController();
    const read = async () => {
      // a try from before may fail late: a sign-in that has ended stays said
      const onConnection = (there: boolean, why?: Error) => setProblem(was => (there ? null : was?.refused ? was : problemOf(why)));
      for await (const news of transport.sessions({ limit, signal: end.signal, background: hidden, persists: true, onConnection })) {
        if (news.type === 'list') {
          setList(news.sessions);
          setOlder(news.next !== undefined);
        }
        if (news.type === 'list' || news.type === 'requests') dispatchEvent(new Event(REQUESTS));
        if (news.type === 'session') setList(now => placed(now ?? [], news.session));
        if (news.type === 'gone') setList(now => now?.filter(s => s.id !== news.id) ?? null);
      }
    };
    read().catch((e: Error) => setProblem(problemOf(e)));
    return () => end.abort();
  }, [limit, hidden]);
  useEffect(() => onRefused(() => setProblem(now => (now?.refused ? now : { sentence: 'Your sign-in has ended.', refused: true }))), []);
  useEffect(() => onSignedIn(() => setProblem(null)), []);
  const more = useCallback(() => setLimit(n => Math.min(MOST, n + PAGE)), []);
  return { list, problem, more: older && limit < MOST ? more : null };
}

/** The session with this id; one that is not in the list, which has the newest ones only, is read. ours: the id of a chat that may not have begun. */
export function useSession({ list }: Sessions, id: string, ours: string): Session | undefined {
  const [read, setRead] = useState<Session | null>(null);
  const listed = list?.find(s => s.id === id),
    look = list !== null && !listed && id !== ours;
  useEffect(() => {
    if (!look) return;
    let here = true;
    void readSession(id).then(s => {
      if (here) setRead(s);
    });
    return () => {
      here = false;
    };
  }, [id, look]);
  return listed ?? (look && read?.id === id ? read : undefined);
}
