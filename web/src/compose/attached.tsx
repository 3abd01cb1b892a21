import { useEffect, useRef, useState } from 'react';
import { FileText, MessageSquareText, X } from 'lucide-react';
import { size, type Attachment } from './attachments';
import { place, type Comment } from './comments';

interface Props {
  files: Attachment[];
  comments: Comment[];
  onFiles: (next: (now: Attachment[]) => Attachment[]) => void;
  onComments: (next: (now: Comment[]) => Comment[]) => void;
  after: () => void;
}

/** What goes out with the draft: comments on lines, and files. Backspace and Delete remove the one that has the focus. */
export function Attached({ files, comments, onFiles, onComments, after }: Props) {
  const list = useRef<HTMLUListElement>(null);
  if (!files.length && !comments.length) return null;
  const remove = (gone: string) => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])],
      i = buttons.findIndex(b => b.dataset.of === gone);
    const next = buttons[i + 1] ?? buttons[i - 1];
    onFiles(now => now.filter(a => a.id !== gone));
    onComments(now => now.filter(c => c.id !== gone));
    if (next) next.focus();
    else after();
  };
  return (
    <ul className="attached" ref={list} aria-label="Goes with this message">
      {comments.map(c => (
        <li key={c.id} className="chip-box" title={c.text}>
          <MessageSquareText aria-hidden="true" />
          <span className="chip-name">{place(c)}</span>
          <span className="chip-note">{c.text}</span>
          <Remove id={c.id} name={`the comment on ${place(c)}`} onRemove={remove} />
        </li>
      ))}
      {files.map(a => (
        <li key={a.id} className={a.file.type.startsWith('image/') ? 'chip-box pictured' : 'chip-box'} title={a.file.name}>
          <Picture file={a.file} />
          <span className="chip-name">{a.file.name}</span>
          <span className="chip-note">{size(a.file.size)}</span>
          <Remove id={a.id} name={a.file.name} onRemove={remove} />
        </li>
      ))}
    </ul>
  );
}

function Remove({ id, name, onRemove }: { id: string; name: string; onRemove: (id: string) => void }) {
  return (
    <button
      type="button"
      className="chip-remove"
      data-of={id}
      aria-label={`Remove ${name}`}
      onClick={() => onRemove(id)}
      onKeyDown={e => {
        if (e.key === 'Backspace' || e.key === 'Delete') {
          e.preventDefault();
          onRemove(id);
        }
      }}
    >
      <X aria-hidden="true" />
    </button>
  );
}

const SIDE = 72; // pixels of a small picture

/** A small picture of a file, if it is one. It is painted: the page's policy takes no pictures from addresses in memory. */
function Picture({ file }: { file: File }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!file.type.startsWith('image/')) return;
    let here = true;
    createImageBitmap(file).then(
      bitmap => {
        const to = canvas.current;
        if (!here || !to) return;
        const scale = SIDE / Math.min(bitmap.width, bitmap.height);
        to.width = to.height = SIDE;
        to.getContext('2d')?.drawImage(
          bitmap,
          (SIDE - bitmap.width * scale) / 2,
          (SIDE - bitmap.height * scale) / 2,
          bitmap.width * scale,
          bitmap.height * scale,
        );
        bitmap.close();
        setShown(true);
      },
      () => {
        /* a form that the browser does not draw: the sign of a file remains */
      },
    );
    return () => {
      here = false;
    };
  }, [file]);
  return (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus */}
      <canvas ref={canvas} className="thumb" hidden={!shown} aria-hidden="true" />
      {!shown && <FileText aria-hidden="true" />}
    </>
  );
}
