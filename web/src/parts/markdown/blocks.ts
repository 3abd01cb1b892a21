// Cuts a Markdown text into its blocks. While the text grows, only its end is read again.
import { lexer, type Token } from 'marked';

export interface Blocks {
  text: string;
  tokens: Token[];
}

/** The last blocks of a growing text may still become other blocks; those before them stay as they are. */
const OPEN = 2;

/** The blocks of a text; before: those of an earlier state of it. */
export function blocksOf(source: string, before?: Blocks): Blocks {
  const text = source.replace(/\r\n?/g, '\n');
  if (before?.text === text) return before;
  if (!before || !text.startsWith(before.text)) return { text, tokens: lexer(text) };
  let keep = before.tokens.length;
  for (let open = 0; keep > 0 && open < OPEN; ) if (before.tokens[--keep]!.type !== 'space') open++;
  const kept = before.tokens.slice(0, keep);
  return { text, tokens: [...kept, ...lexer(text.slice(kept.reduce((n, t) => n + t.raw.length, 0)))] };
}

/** The level of each block that is a heading: no level is skipped on the way down, which starts below the page's title. */
export function levelsOf(tokens: Token[]): number[] {
  let last = 1;
  return tokens.map(t => (t.type === 'heading' ? (last = Math.min((t.depth as number) + 1, last + 1, 6)) : 0));
}
