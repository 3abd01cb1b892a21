import { useRef } from 'react';
import type { UIMessage } from 'ai';

/** A prompt and what answers it. The key stays while the turn grows. */
export interface Turn { key: string; messages: UIMessage[] }

const same = (a: UIMessage[], b: UIMessage[]) => a.length === b.length && a.every((m, i) => m === b[i]);

/** The messages by turns. A turn that has not changed is the same object as before, so that it is not drawn again. */
export function useTurns(messages: UIMessage[]): Turn[] {
  const before = useRef(new Map<string, Turn>());
  const turns: Turn[] = [];
  for (const m of messages) {
    if (m.role === 'user' || !turns.length) turns.push({ key: m.id, messages: [m] });
    else turns.at(-1)!.messages.push(m);
  }
  const known = before.current;
  const all = turns.map(t => { const was = known.get(t.key); return was && same(was.messages, t.messages) ? was : t; });
  before.current = new Map(all.map(t => [t.key, t]));
  return all;
}
