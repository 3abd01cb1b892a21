// The one way in which the page shows a difference: in a tool's card, on a request, in the review.
import { Fragment, memo, useMemo, useRef, useState, type ReactNode } from 'react';
import { useColors } from './code/colors';
import type { Line as Colors } from './code/line';
import { languageOfFile } from './code/language';
import { readPatch, type FileDiff, type Row } from './diff/patch';
import { colored, pairs, segments, side } from './diff/rows';
import { useNear } from './near';
import { Visible } from './visible';

export { patchOf, readPatch, type FileDiff, type Row } from './diff/patch';

/** A line of a file on one side of a diff. */
export interface Place {
  path: string;
  side: 'old' | 'new';
  line: number;
  text: string;
}

interface Look {
  view?: 'unified' | 'split';
  /** Makes the number of each line a button that calls it. */
  onLine?: (place: Place) => void;
  /** What stands below a line, such as comments on it. */
  below?: (place: Place) => ReactNode;
}

interface Props extends Look {
  /** A unified diff of one or more files. */
  patch: string;
  /** Whether each file has a line with its name above it; true if there are several. */
  heads?: boolean;
}

const FIRST = 300; // rows of a file that are shown at once

/** A unified diff of one or more files. A text that is no diff is shown as it is. */
export const Diff = memo(function Diff({ patch, heads, ...look }: Props) {
  const files = useMemo(() => readPatch(patch), [patch]);
  if (!files)
    return (
      <pre className="diff-raw" tabIndex={0}>
        <Visible text={patch} />
      </pre>
    );
  return files.map((file, i) => (
    <div key={i} className="diff-file">
      {(heads ?? files.length > 1) && <DiffHead file={file} />}
      <DiffFile file={file} {...look} />
    </div>
  ));
});

/** A file's name and how many lines came and went. */
export function DiffHead({ file }: { file: FileDiff }) {
  return (
    <p className="diff-head">
      <span className="diff-path">
        <Visible text={file.from ? `${file.from} → ${file.path}` : file.path} />
      </span>
      {file.change !== 'modified' && <span className="diff-change">{file.change}</span>}
      <Counts added={file.added} removed={file.removed} />
    </p>
  );
}

export const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span className="diff-counts">
    {added > 0 && (
      <span className="came">
        +{added}
        <span className="unseen"> lines added</span>
      </span>
    )}
    {removed > 0 && (
      <span className="went">
        −{removed}
        <span className="unseen"> lines removed</span>
      </span>
    )}
  </span>
);

/** The hunks with so many rows, from the first on. */
function firstOf(hunks: FileDiff['hunks'], most: number): FileDiff['hunks'] {
  let room = most;
  return hunks.flatMap(hunk => {
    const rows = hunk.rows.slice(0, Math.max(0, room));
    room -= hunk.rows.length;
    return rows.length ? [{ ...hunk, rows }] : [];
  });
}

/** The rows of one file. */
export const DiffFile = memo(function DiffFile({
  file,
  view = 'unified',
  onLine,
  below,
  label = `Changes of ${file.path || 'a file'}`,
}: Look & { file: FileDiff; label?: string }) {
  const [all, setAll] = useState(false);
  const box = useRef<HTMLDivElement>(null),
    near = useNear(box),
    language = languageOfFile(file.path);
  const old = useColors(
      useMemo(() => side(file.hunks, 'add'), [file]),
      language,
      near,
    ),
    now = useColors(
      useMemo(() => side(file.hunks, 'del'), [file]),
      language,
      near,
    );
  const colors = useMemo(() => colored(file.hunks, old, now), [file, old, now]);
  const total = file.hunks.reduce((n, h) => n + h.rows.length, 0);
  const shown = all ? file.hunks : firstOf(file.hunks, FIRST);
  const cell = { path: file.path, colors, onLine };
  return (
    <div className="diff-box" ref={box} tabIndex={0} role="group" aria-label={label}>
      <table className={`diff ${view}`}>
        {view === 'split' && (
          <colgroup>
            <col className="numbers" />
            <col />
            <col className="numbers" />
            <col />
          </colgroup>
        )}
        <tbody>
          {shown.map(({ head, rows }, h) => {
            return (
              <Fragment key={h}>
                {(h > 0 || (rows[0]?.new ?? 1) > 1) && (
                  <tr className="hunk">
                    <td colSpan={view === 'split' ? 4 : 3}>{head}</td>
                  </tr>
                )}
                {view === 'split'
                  ? pairs(rows).map(([left, right], i) => (
                      <Fragment key={i}>
                        <tr>
                          <LineNumber row={left} of="old" {...cell} />
                          <Text row={left} {...cell} />
                          <LineNumber row={right} of="new" {...cell} />
                          <Text row={right} {...cell} />
                        </tr>
                        <Below rows={left === right ? [right] : [left, right]} path={file.path} below={below} span={4} />
                      </Fragment>
                    ))
                  : rows.map((row, i) => (
                      <Fragment key={i}>
                        <tr>
                          <LineNumber
                            row={row.kind === 'add' ? null : row}
                            of="old"
                            {...cell}
                            onLine={row.kind === 'del' ? onLine : undefined}
                          />
                          <LineNumber row={row.kind === 'del' ? null : row} of="new" {...cell} />
                          <Text row={row} {...cell} sign />
                        </tr>
                        <Below rows={[row]} path={file.path} below={below} span={3} />
                      </Fragment>
                    ))}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {!all && total > FIRST && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show {(total - FIRST).toLocaleString('en')} more lines
        </button>
      )}
    </div>
  );
});

const placeOf = (path: string, row: Row): Place =>
  row.new === null ? { path, side: 'old', line: row.old!, text: row.text } : { path, side: 'new', line: row.new, text: row.text };

interface Cell {
  path: string;
  row: Row | null;
  colors: Map<Row, Colors>;
  onLine?: (place: Place) => void;
}

/** The number of a line. It stands in an attribute, so that it is not copied with the code. */
function LineNumber({ row, of, path, onLine }: Cell & { of: 'old' | 'new' }) {
  if (!row) return <td className="number" />;
  const n = row[of];
  if (!onLine || n === null) return <td className={`number ${row.kind}`} data-n={n ?? ''} />;
  return (
    <td className={`number ${row.kind}`}>
      <button
        type="button"
        data-n={n}
        aria-label={`Comment on line ${n}`}
        title={`Comment on line ${n}`}
        onClick={() => onLine(placeOf(path, row))}
      />
    </td>
  );
}

const SIGN = { same: ' ', add: '+', del: '−' },
  WORD = { same: '', add: 'added: ', del: 'removed: ' };

function Text({ row, colors, sign = false }: Cell & { sign?: boolean }) {
  if (!row) return <td className="none" />;
  return (
    <td className={row.kind} data-sign={sign ? SIGN[row.kind] : undefined}>
      {row.kind !== 'same' && <span className="unseen">{WORD[row.kind]}</span>}
      {segments(row, colors.get(row)).map((s, i) => {
        const name = [s.hue && `hue-${s.hue}`, s.marked && 'marked'].filter(Boolean).join(' ');
        const text = <Visible key={i} text={s.text} />;
        return name ? (
          <span key={i} className={name}>
            {text}
          </span>
        ) : (
          text
        );
      })}
      {row.text === '' && '\n'}
    </td>
  );
}

function Below({ rows, path, below, span }: { rows: (Row | null)[]; path: string; below: Look['below']; span: number }) {
  const found = below && rows.flatMap(row => (row ? [below(placeOf(path, row))] : [])).filter(Boolean);
  if (!found?.length) return null;
  return (
    <tr className="below">
      <td colSpan={span}>
        {found.map((node, i) => (
          <Fragment key={i}>{node}</Fragment>
        ))}
      </td>
    </tr>
  );
}
