// Comments on lines of changed files. They wait in the composer, and become a part of the next prompt.
import { Kept, useKept } from './kept';

export interface Comment {
  id: string;
  path: string;
  from: number;
  to: number;
  side: 'old' | 'new';
  quoted: string;
  text: string;
}

const NONE: Comment[] = [];
const comments = new Kept<Comment[]>('comments', NONE, list => list.length === 0);

export const useComments = (key: string) => useKept(comments, key);

/** The lines of a comment, as people name them; only the file where the lines have no numbers. */
export const place = (c: Comment) =>
  `${c.path}${c.from ? `:${c.from}${c.to > c.from ? `-${c.to}` : ''}` : ''}${c.side === 'old' ? ' (before the change)' : ''}`;

const fence = (text: string) => '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(run => run[0].length + 1)));

const quote = (c: Comment) => {
  const ticks = fence(c.quoted);
  return `\`${place(c)}\`\n${ticks}\n${c.quoted}\n${ticks}\n${c.text}`;
};

/** A prompt with its comments before it. */
export const withComments = (list: Comment[], text: string) => [...list.map(quote), text].filter(Boolean).join('\n\n');
