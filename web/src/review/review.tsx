import { useCallback, useEffect, useMemo, useState, type RefObject } from 'react';
import { generateId, type UIMessage } from 'ai';
import { ChevronDown, ChevronUp, Columns2, FoldVertical, Rows2, UnfoldVertical, X } from 'lucide-react';
import { useComments } from '../compose/comments';
import { isFree } from '../palette/keys';
import { Button, IconButton } from '../ui/button';
import { changesOf, filesOf, stateOf, type File } from './changes';
import { FileReview } from './file';
import { FileTree } from './filetree';
import { treeOf } from './tree';
import { useViewed } from './viewed';
import './review.css';

export interface Props {
  /** The element that holds the review. */
  paneRef: RefObject<HTMLDivElement | null>;
  id: string;
  messages: UIMessage[];
  /** Whether the session has messages before these, and what reads them. */
  more: boolean;
  older: () => Promise<void>;
  onClose: () => void;
}

const GAP = 8; // pixels above a file that one has gone to

/** A fold holds while the file's changes are the same. */
const fold = (file: File) => `${file.path} ${stateOf(file)}`;

const inText = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement && e.target.closest('input, textarea, select, [contenteditable]') !== null;

/** All that the agent has changed in a session, or in one turn of it. */
export default function Review({ paneRef, id, messages, more, older, onClose }: Props) {
  const { changes, turns } = useMemo(() => changesOf(messages), [messages]);
  const [scope, setScope] = useState(''),
    [view, setView] = useState<'unified' | 'split'>('unified');
  const [shut, setShut] = useState<ReadonlySet<string>>(new Set()),
    [current, setCurrent] = useState<string | null>(null);
  const [loading, setLoading] = useState(false),
    [problem, setProblem] = useState<string | null>(null);
  const [marks, setMarks] = useViewed(id),
    [comments, setComments] = useComments(id);
  const files = useMemo(() => filesOf(scope ? changes.filter(c => c.turn === scope) : changes), [changes, scope]);
  const tree = useMemo(() => treeOf(files), [files]);
  const seen = useCallback((file: File) => marks[file.path] === stateOf(file), [marks]);

  const toggle = useCallback(
    (file: File) =>
      setShut(now => {
        const next = new Set(now);
        if (!next.delete(fold(file))) next.add(fold(file));
        return next;
      }),
    [],
  );
  const mark = useCallback(
    (file: File) => {
      const done = marks[file.path] === stateOf(file);
      setMarks(now => {
        const { [file.path]: _, ...others } = now;
        return done ? others : { ...others, [file.path]: stateOf(file) };
      });
      setShut(now => {
        const next = new Set(now);
        if (done) next.delete(fold(file));
        else next.add(fold(file));
        return next;
      });
    },
    [marks, setMarks],
  );
  const show = useCallback(
    (path: string) => {
      setCurrent(path);
      const section = paneRef.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
      if (!section) return;
      section.parentElement!.scrollTo({ top: section.offsetTop - GAP });
      section.querySelector<HTMLElement>('.review-name')?.focus({ preventScroll: true });
    },
    [paneRef],
  );
  const step = useCallback(
    (by: number) => {
      const at = files.findIndex(f => f.path === current),
        next = files[at < 0 ? (by > 0 ? 0 : files.length - 1) : at + by];
      if (next) show(next.path);
    },
    [files, current, show],
  );
  useEffect(() => {
    const onLetter = (e: KeyboardEvent) => {
      const file = files.find(f => f.path === current);
      const act =
        isFree(e) &&
        {
          n: () => step(1),
          j: () => step(1),
          p: () => step(-1),
          k: () => step(-1),
          v: () => {
            if (file) mark(file);
          },
          x: () => {
            if (file) toggle(file);
          },
          s: () => setView(v => (v === 'split' ? 'unified' : 'split')),
        }[e.key];
      if (!act) return;
      e.preventDefault();
      act();
    };
    const onEscape = (e: KeyboardEvent) => {
      if (e.key !== 'Escape' || e.defaultPrevented || inText(e) || document.querySelector('[role=dialog]')) return;
      e.preventDefault();
      onClose();
    };
    addEventListener('keydown', onLetter, true); // before the page's own keys of one letter
    addEventListener('keydown', onEscape);
    return () => {
      removeEventListener('keydown', onLetter, true);
      removeEventListener('keydown', onEscape);
    };
  }, [files, current, step, mark, toggle, onClose]);
  const onComment = useCallback(
    (comment: Omit<(typeof comments)[number], 'id'>) => setComments(list => [...list, { ...comment, id: generateId() }]),
    [setComments],
  );
  const onRemove = useCallback((gone: string) => setComments(list => list.filter(c => c.id !== gone)), [setComments]);
  const load = async () => {
    setLoading(true);
    setProblem(null);
    try {
      await older();
    } catch (e) {
      setProblem((e as Error).message);
    } finally {
      setLoading(false);
    }
  };
  const done = files.filter(seen).length,
    all = files.some(f => !shut.has(fold(f)));

  return (
    <>
      <div className="review-bar">
        <h2>Changes</h2>
        {turns.length > 1 && (
          <select value={scope} aria-label="Which changes" className="input review-scope" onChange={e => setScope(e.target.value)}>
            <option value="">Of the whole session</option>
            {turns.map(t => (
              <option key={t.id} value={t.id}>
                After “{t.prompt.slice(0, 60)}”
              </option>
            ))}
          </select>
        )}
        <span className="review-done">
          {done} of {files.length}
          <span className="review-word"> viewed</span>
        </span>
        <span className="grow" />
        <IconButton label="Previous file" keys="P" onClick={() => step(-1)}>
          <ChevronUp aria-hidden="true" />
        </IconButton>
        <IconButton label="Next file" keys="N" onClick={() => step(1)}>
          <ChevronDown aria-hidden="true" />
        </IconButton>
        <IconButton
          className="review-fold"
          label={all ? 'Collapse all files' : 'Expand all files'}
          onClick={() => setShut(new Set(all ? files.map(fold) : []))}
        >
          {all ? <FoldVertical aria-hidden="true" /> : <UnfoldVertical aria-hidden="true" />}
        </IconButton>
        <IconButton
          className="review-split"
          label="Old and new side by side"
          keys="S"
          aria-pressed={view === 'split'}
          onClick={() => setView(view === 'split' ? 'unified' : 'split')}
        >
          {view === 'split' ? <Rows2 aria-hidden="true" /> : <Columns2 aria-hidden="true" />}
        </IconButton>
        <IconButton label="Close the changes" keys="Esc" onClick={onClose}>
          <X aria-hidden="true" />
        </IconButton>
      </div>
      {more && (
        <p className="review-more">
          <span>{problem ?? 'Changes of earlier turns are not here yet.'}</span>
          <Button small disabled={loading} onClick={() => void load()}>
            {loading ? 'Loading…' : 'Load earlier turns'}
          </Button>
        </p>
      )}
      {files.length === 0 ? (
        <p className="review-none">The agent has changed no file here.</p>
      ) : (
        <div className="review-body">
          <nav className="review-tree" aria-label="Changed files">
            <FileTree folder={tree} current={current} viewed={seen} onOpen={show} />
          </nav>
          <div className="review-files" tabIndex={0} role="group" aria-label="Differences">
            {files.map(file => (
              <FileReview
                key={file.path}
                file={file}
                turns={turns}
                view={view}
                open={!shut.has(fold(file))}
                viewed={seen(file)}
                comments={comments.some(c => c.path === file.path) ? comments.filter(c => c.path === file.path) : NONE}
                onToggle={toggle}
                onViewed={mark}
                onComment={onComment}
                onRemove={onRemove}
              />
            ))}
          </div>
        </div>
      )}
    </>
  );
}

const NONE: never[] = [];
