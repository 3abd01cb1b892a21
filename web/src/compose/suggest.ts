// The list at the caret: its entries, and the chosen one.
import { useEffect, useState } from 'react';
import { findFiles, type Command } from './controls';
import type { Trigger } from './trigger';

export interface Offer {
  value: string;
  name: string;
  note?: string;
}

const PAUSE = 120; // between the last key and the question
const MOST = 50;

const matching = (commands: Command[], query: string): Offer[] => {
  const words = query.toLowerCase();
  const found = commands.filter(c => c.name.toLowerCase().includes(words));
  found.sort((a, b) => Number(b.name.toLowerCase().startsWith(words)) - Number(a.name.toLowerCase().startsWith(words)));
  return found.slice(0, MOST).map(c => ({ value: `/${c.name} `, name: `/${c.name}${c.hint ? ` ${c.hint}` : ''}`, note: c.description }));
};

/** The offers for a trigger. A trigger that was closed by Escape stays closed until another word begins. */
export function useOffers(id: string, hasFiles: boolean, trigger: Trigger | null, commands: Command[]) {
  const [files, setFiles] = useState<{ query: string; paths: string[] } | null>(null);
  const query = trigger?.kind === 'file' && hasFiles ? trigger.query : null;
  if (query === null && files) setFiles(null);
  useEffect(() => {
    if (query === null) return;
    const asked = new AbortController();
    const timer = setTimeout(() => {
      findFiles(id, query, asked.signal).then(
        paths => setFiles({ query, paths }),
        () => {
          if (!asked.signal.aborted) setFiles({ query, paths: [] });
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [id, query]);
  if (trigger?.kind === 'command') return matching(commands, trigger.query);
  return query === null
    ? []
    : (files?.paths ?? []).map((path): Offer => {
        const slash = path.lastIndexOf('/') + 1;
        return { value: `@${path} `, name: path.slice(slash), note: slash ? path.slice(0, slash) : undefined };
      });
}
