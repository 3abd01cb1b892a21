import { memo, useState } from 'react';
import { lexer, type Token } from 'marked';
import { One } from './block';
import { later } from '../later';
import { blocksOf, levelsOf, type Blocks } from './blocks';

// Closes what is half open in a text.
let remend = (text: string) => text;
later(() =>
  import('remend').then(m => {
    remend = m.default;
  }),
);

/** A block is drawn again only when its text changes. */
const Block = memo(One, (a, b) => a.token.raw === b.token.raw && a.level === b.level);

/** The last block while it is written: what is half open in it is closed. */
function closed(token: Token): Token[] {
  return token.type === 'code' || token.type === 'html' ? [token] : lexer(remend(token.raw));
}

/** A text in Markdown. live: it is still being written. Nothing in it runs, and HTML stays text. */
export const Markdown = memo(function Markdown({ text, live = false }: { text: string; live?: boolean }) {
  const [before, setBefore] = useState<Blocks>();
  if (!text) return null;
  // A definition of a link may stand below its use, so the finished text is read as one.
  const blocks = blocksOf(text, live ? before : undefined);
  if (live && blocks !== before) setBefore(blocks);
  const last = blocks.tokens.at(-1);
  const tokens = live && last ? [...blocks.tokens.slice(0, -1), ...closed(last)] : blocks.tokens;
  const levels = levelsOf(tokens);
  return (
    <div className="markdown">
      {tokens.map((token, i) => (token.type === 'space' ? null : <Block key={i} token={token} level={levels[i]} dir="auto" />))}
    </div>
  );
});
