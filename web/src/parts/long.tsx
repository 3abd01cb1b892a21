import { useState, type ReactNode } from 'react';
import { save, sized } from './save';

const FIRST = 20_000, NEXT = 200_000, LINES = 400;

/** The end of a text's first part: at the end of a line if one is near. */
function cut(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const line = text.lastIndexOf('\n', most);
  return line > most / 2 ? line + 1 : most;
}

/** The beginning of a text with few enough lines. */
function lines(text: string, most: number): number {
  let at = -1;
  for (let n = 0; n < most; n++) if ((at = text.indexOf('\n', at + 1)) < 0) return text.length;
  return at + 1;
}

/** A text of any length: its beginning, more on a click, all of it as a file. name: the file's. children draws what is shown of it. */
export function Long({ text, name, children }: { text: string; name: string; children: (shown: string) => ReactNode }) {
  const [more, setMore] = useState(0);
  const end = Math.min(cut(text, FIRST + more * NEXT), lines(text, LINES + more * LINES * 10));
  const rest = text.length - end;
  return (
    <>
      {children(rest > 0 ? text.slice(0, end) : text)}
      {rest > 0 && (
        <p className="cut">
          <span>{sized(rest)} more</span>
          <button type="button" className="btn small" onClick={() => setMore(more + 1)}>Show more</button>
          <button type="button" className="btn small" onClick={() => save(name, text)}>Download all</button>
        </p>
      )}
    </>
  );
}
