import { useState, type ReactNode } from 'react';
import { save, sized } from './save';

/** How much of a text is shown at once, and at its end below the fold. */
export interface Room {
  characters: number;
  lines: number;
  tail?: number;
}

const ROOM: Room = { characters: 20_000, lines: 400 },
  NEXT = { characters: 200_000, lines: 4000 };
/** The characters of the end of a text that stand below the fold at most. */
const TAIL = 1000;

/** A place near `at` at which no character is cut in two. */
const between = (text: string, at: number) =>
  /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at + 1 : at;

/** The end of a text's first part: at the end of a line if one is near. */
function cut(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const line = text.lastIndexOf('\n', most);
  return line > most / 2 ? line + 1 : between(text, most);
}

/** The beginning of a text with few enough lines. */
function lines(text: string, most: number): number {
  let at = -1;
  for (let n = 0; n < most; n++) if ((at = text.indexOf('\n', at + 1)) < 0) return text.length;
  return at + 1;
}

/** The begin of the last lines of a text. */
function tailOf(text: string, most: number): number {
  let at = text.length;
  for (let n = 0; n < most && at > 0; n++) at = text.lastIndexOf('\n', at - 1);
  return between(text, Math.max(at + 1, text.length - TAIL));
}

/** How many lines of a text are hidden, of which a part counts as one. */
const count = (hidden: string) => hidden.split('\n').length - (hidden.endsWith('\n') ? 1 : 0);

type Draw = (shown: string, place: 'begin' | 'opened' | 'end') => ReactNode;

/** A text of any length: its beginning, the end if room says so, more on a click, all of it as a file. name: the file's. children draws what is shown of it. */
export function Long({ text, name, room = ROOM, children }: { text: string; name: string; room?: Room; children: Draw }) {
  const [more, setMore] = useState(0);
  const last = room.tail ? tailOf(text, room.tail) : text.length;
  const end = Math.min(cut(text, room.characters + more * NEXT.characters), lines(text, room.lines + more * NEXT.lines));
  const place = more > 0 ? 'opened' : 'begin';
  if (end >= last) return children(text, place);
  const hidden = text.slice(end, last),
    n = count(hidden);
  return (
    <>
      {children(text.slice(0, end), place)}
      <p className="cut">
        <span>
          {n.toLocaleString('en')} more {n === 1 ? 'line' : 'lines'}, {sized(hidden.length)}
        </span>
        <button type="button" className="btn small" onClick={() => setMore(more + 1)}>
          Show more
        </button>
        <button type="button" className="btn small" onClick={() => save(name, text)}>
          Download all
        </button>
      </p>
      {last < text.length && children(text.slice(last), 'end')}
    </>
  );
}
