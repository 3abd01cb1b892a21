import type { UIMessage } from 'ai';

/** A prompt and what answers it. The key stays while the turn grows. */
export interface Turn {
  key: string;
  messages: UIMessage[];
}

const same = (a: UIMessage[], b: UIMessage[]) => a.length === b.length && a.every((m, i) => m === b[i]);

/** The turns as they were worked out last, by their first messages. */
const known = new WeakMap<UIMessage, Turn>();

/** The messages by turns. A turn that has not changed is the same object as before, so that it is not drawn again. */
export function turnsOf(messages: UIMessage[]): Turn[] {
  const turns: UIMessage[][] = [];
  for (const m of messages) {
    const last = turns.at(-1);
    if (m.role === 'user' || !last) turns.push([m]);
    else last.push(m);
  }
  return turns.map(all => {
    const first = all[0]!,
      was = known.get(first);
    if (was && same(was.messages, all)) return was;
    const turn = { key: first.id, messages: all };
    known.set(first, turn);
    return turn;
  });
}
