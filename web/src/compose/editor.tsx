import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from '../ui/button';
import { useHeight } from './height';

interface Props {
  label: string;
  text: string;
  save: string;
  needsText?: boolean;
  note?: ReactNode;
  onSave: (text: string) => void;
  onCancel: () => void;
}

/** A text in its place, being changed: Enter saves, Escape leaves it as it was. */
export function Editor({ label, text: old, save, needsText = true, note, onSave, onCancel }: Props) {
  const [text, setText] = useState(old);
  const area = useRef<HTMLTextAreaElement>(null);
  useHeight(area, text, 320);
  useEffect(() => {
    const el = area.current,
      opener = document.activeElement;
    el?.focus();
    el?.setSelectionRange(el.value.length, el.value.length);
    return () => {
      // the keyboard goes back to where it came from
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    };
  }, []);
  const ready = !needsText || text.trim() !== '';
  const done = () => {
    if (ready) onSave(text.trim());
  };
  return (
    <form
      className="editor"
      onSubmit={e => {
        e.preventDefault();
        done();
      }}
    >
      <textarea
        ref={area}
        rows={1}
        dir="auto"
        value={text}
        aria-label={label}
        onChange={e => setText(e.target.value)}
        onKeyDown={e => {
          if (e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing) {
            e.preventDefault();
            done();
          }
          if (e.key === 'Escape') {
            e.preventDefault();
            e.stopPropagation();
            onCancel();
          }
        }}
      />
      {note && <p className="editor-note">{note}</p>}
      <div className="editor-acts">
        <Button small onClick={onCancel}>
          Cancel
        </Button>
        <Button small look="primary" type="submit" disabled={!ready}>
          {save}
        </Button>
      </div>
    </form>
  );
}
