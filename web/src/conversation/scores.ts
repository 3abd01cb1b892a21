// What graders found in the turns of a session.
import { useEffect, useMemo, useState } from 'react';
import { listScores, type Score } from '../api/api';

/** The scores by the last answers of their turns. A grader sends them later, so they are read again when a person comes back to the page. */
export function useScores(session: string, reads: boolean): ReadonlyMap<string, Score[]> {
  const [told, setTold] = useState('[]'); // what is the same again draws nothing
  useEffect(() => {
    if (!reads) return;
    let here = true;
    const read = () =>
      void listScores(session).then(all => {
        if (here) setTold(JSON.stringify(all));
      });
    read();
    addEventListener('focus', read);
    return () => {
      here = false;
      removeEventListener('focus', read);
    };
  }, [session, reads]);
  return useMemo(() => {
    const of = new Map<string, Score[]>();
    for (const score of JSON.parse(told) as Score[]) {
      const { message_id: id } = score;
      if (id !== undefined) of.set(id, [...(of.get(id) ?? []), score]);
    }
    return of;
  }, [told]);
}
