// The prompts that this browser has sent, so that arrow up brings them back.
import { textOf } from '@tributary/chat';
import type { UIMessage } from 'ai';
import { Kept } from './kept';

const NONE: string[] = [];
const MOST = 50,
  LONGEST = 10_000;
const sent = new Kept<string[]>('prompts', NONE, list => list.length === 0);

export function remember(key: string, prompt: string) {
  if (prompt && prompt.length <= LONGEST) sent.set(key, list => [prompt, ...list.filter(p => p !== prompt)].slice(0, MOST));
}

/** The newest first. A session that was begun in another browser has its prompts in the messages. */
export function ownPrompts(key: string, messages: UIMessage[]): string[] {
  const mine = sent.get(key);
  if (mine.length) return mine;
  return messages
    .filter(m => m.role === 'user')
    .map(textOf)
    .filter(Boolean)
    .reverse();
}
