import { memo, useCallback, useState } from 'react';
import { ChevronRight, X } from 'lucide-react';
import { Counts, DiffFile, type FileDiff, type Place } from '../parts/diff';
import { place as placeOf, type Comment } from '../compose/comments';
import { Editor } from '../compose/editor';
import { IconButton } from '../ui/button';
import type { Change, File, Turn } from './changes';
import { Mark } from './filetree';

export interface FileProps {
  file: File;
  turns: Turn[];
  view: 'unified' | 'split';
  open: boolean;
  viewed: boolean;
  comments: Comment[];
  onToggle: (file: File) => void;
  onViewed: (file: File) => void;
  onComment: (comment: Omit<Comment, 'id'>) => void;
  onRemove: (id: string) => void;
}

/** One changed file: its name, and its changes below each other in the order in which they were made. */
export const FileReview = memo(function FileReview(props: FileProps) {
  const { file, open, viewed, onToggle, onViewed } = props;
  return (
    <section className="review-file" data-path={file.path} aria-label={file.path}>
      <header className="review-head">
        <button type="button" className="review-name" aria-expanded={open} onClick={() => onToggle(file)}>
          <ChevronRight aria-hidden="true" />
          <Mark change={file.change} />
          <span className="review-path">{file.from ? `${file.from} → ${file.path}` : file.path}</span>
        </button>
        <Counts added={file.added} removed={file.removed} />
        <label className="viewed">
          <input type="checkbox" checked={viewed} onChange={() => onViewed(file)} />
          Viewed
        </label>
      </header>
      {open && file.changes.map((change, i) => <ChangeReview key={change.key} {...props} change={change} at={i} />)}
    </section>
  );
});

/** The lines of one side of a difference, from one number to another. */
const linesOf = (diff: FileDiff, side: Place['side'], from: number, to: number) =>
  diff.hunks
    .flatMap(h => h.rows)
    .filter(r => {
      const n = r[side];
      return n !== null && n >= from && n <= to;
    })
    .map(r => r.text)
    .join('\n');

interface Range {
  side: Place['side'];
  from: number;
  to: number;
}

function ChangeReview({ file, change, at, turns, view, comments, onComment, onRemove }: FileProps & { change: Change; at: number }) {
  const [range, setRange] = useState<Range | null>(null);
  const { diff, source } = change,
    exact = source !== 'input';
  const onLine = useCallback(
    (p: Place) =>
      setRange(now =>
        now && now.side === p.side
          ? { ...now, from: Math.min(now.from, p.line), to: Math.max(now.to, p.line) }
          : { side: p.side, from: p.line, to: p.line },
      ),
    [],
  );
  const many = file.changes.length > 1,
    turn = turns.find(t => t.id === change.turn);
  const below = useCallback(
    (p: Place) => {
      const here = comments.filter(c => c.side === p.side && c.to === p.line);
      const editing = range && range.side === p.side && range.to === p.line;
      if (!here.length && !editing) return null;
      return (
        <div className="line-comments">
          {here.map(c => (
            <div key={c.id} className="line-comment">
              <p>
                <span className="line-place">{placeOf(c)}</span>
                {c.text}
              </p>
              <IconButton small label="Remove the comment" onClick={() => onRemove(c.id)}>
                <X aria-hidden="true" />
              </IconButton>
            </div>
          ))}
          {editing && (
            <Editor
              label={`Comment on ${range.from === range.to ? `line ${range.from}` : `lines ${range.from} to ${range.to}`}`}
              text=""
              save="Add to the next message"
              note="Choose another line to comment on all lines between."
              onCancel={() => setRange(null)}
              onSave={text => {
                setRange(null);
                onComment({
                  path: file.path,
                  ...(exact ? { from: range.from, to: range.to } : { from: 0, to: 0 }),
                  side: range.side,
                  quoted: linesOf(diff!, range.side, range.from, range.to),
                  text,
                });
              }}
            />
          )}
        </div>
      );
    },
    [comments, range, onRemove, onComment, file.path, exact, diff],
  );
  const note = [
    many && source !== 'total' && `Change ${at + 1} of ${file.changes.length}${turn ? `, after “${turn.prompt.slice(0, 60)}”` : ''}.`,
    source === 'total' && 'All changes of this file so far, as the agent counts them.',
    source === 'input' && 'Read from what the call was asked to do: the lines have no numbers.',
    !diff &&
      (change.change === 'modified' || change.change === 'created'
        ? 'The agent gave no difference of this file.'
        : `The file was ${change.change}.`),
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <>
      {note && <p className="change-note">{note}</p>}
      {diff && (
        <DiffFile file={diff} label={many ? `Change ${at + 1} of ${file.path}` : undefined} view={view} onLine={onLine} below={below} />
      )}
    </>
  );
}
