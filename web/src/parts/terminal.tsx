import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Copy } from './code/copy';
import { paint, plain } from './ansi';
import { save, sized } from './save';

const TAIL = 40_000,
  MORE = 400_000;

/** What a command has written, as a terminal shows it. While it runs, the end stays in view. */
export const Terminal = memo(function Terminal({ text, running, name }: { text: string; running: boolean; name: string }) {
  const [all, setAll] = useState(false),
    [room, setRoom] = useState(TAIL);
  const box = useRef<HTMLPreElement>(null),
    stuck = useRef(true);
  const from = text.length > room ? text.indexOf('\n', text.length - room) + 1 || text.length - room : 0;
  const shown = from ? text.slice(from) : text;
  const [deep, setDeep] = useState(false);
  const spans = useMemo(() => paint(shown), [shown]);
  useLayoutEffect(() => {
    const el = box.current;
    if (el && running && stuck.current) el.scrollTop = el.scrollHeight;
  }, [spans, running]);
  useEffect(() => {
    const el = box.current;
    setDeep(!!el && el.scrollHeight > el.clientHeight + 4);
  }, [spans, all]);
  return (
    <div className="terminal">
      {from > 0 && (
        <p className="cut">
          <span>{sized(from)} before this</span>
          <button type="button" className="btn small" onClick={() => setRoom(room + MORE)}>
            Show more
          </button>
          <button type="button" className="btn small" onClick={() => save(`${name}.txt`, plain(text))}>
            Download all
          </button>
        </p>
      )}
      <pre
        ref={box}
        className={all ? 'all' : undefined}
        tabIndex={0}
        role="group"
        aria-label="Output of the command"
        onScroll={e => {
          const el = e.currentTarget;
          stuck.current = el.scrollHeight - el.scrollTop - el.clientHeight < 24;
        }}
      >
        {spans.map((s, i) =>
          s.name || s.style ? (
            <span key={i} className={s.name} style={s.style}>
              {s.text}
            </span>
          ) : (
            s.text
          ),
        )}
      </pre>
      <p className="terminal-bar">
        {(deep || all) && (
          <button type="button" className="btn quiet small" onClick={() => setAll(!all)}>
            {all ? 'Show less' : 'Show all'}
          </button>
        )}
        <Copy text={() => plain(text)} what="output" />
      </p>
    </div>
  );
});
