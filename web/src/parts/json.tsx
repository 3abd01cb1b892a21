import { useState, type ReactNode } from 'react';

const MOST = 100,
  STRING = 400,
  OPEN = 12;

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A value as a tree that opens where a reader looks. */
export function Json({ value, depth = 0 }: { value: unknown; depth?: number }): ReactNode {
  if (!isNode(value)) return <Leaf value={value} />;
  return <Entries value={value} depth={depth} />;
}

function Leaf({ value }: { value: unknown }) {
  const [all, setAll] = useState(false);
  if (typeof value !== 'string') return <span className="json-word">{String(value)}</span>;
  if (all || value.length <= STRING) return <span className="json-text">{value || <em>empty</em>}</span>;
  return (
    <span className="json-text">
      {value.slice(0, STRING)}…{' '}
      <button type="button" className="btn quiet small" onClick={() => setAll(true)}>
        all {value.length.toLocaleString('en')} characters
      </button>
    </span>
  );
}

function Entries({ value, depth }: { value: object; depth: number }) {
  const [most, setMost] = useState(MOST);
  const entries = Object.entries(value);
  if (!entries.length) return <span className="json-word">{Array.isArray(value) ? 'empty list' : 'empty'}</span>;
  return (
    <ul className="json">
      {entries.slice(0, most).map(([key, of]) => (
        <Entry key={key} name={key} value={of} depth={depth} />
      ))}
      {entries.length > most && (
        <li>
          <button type="button" className="btn quiet small" onClick={() => setMost(most * 5)}>
            {(entries.length - most).toLocaleString('en')} more
          </button>
        </li>
      )}
    </ul>
  );
}

function Entry({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const count = isNode(value) ? Object.keys(value).length : 0;
  const [open, setOpen] = useState(depth < 2 && count <= OPEN);
  if (!count)
    return (
      <li>
        <span className="json-key">{name}</span> <Json value={value} />
      </li>
    );
  return (
    <li>
      <details open={open} onToggle={e => setOpen(e.currentTarget.open)}>
        <summary>
          <span className="json-key">{name}</span>{' '}
          <span className="json-count">{Array.isArray(value) ? `${count} in a list` : `${count} fields`}</span>
        </summary>
        {open && <Json value={value} depth={depth + 1} />}
      </details>
    </li>
  );
}
