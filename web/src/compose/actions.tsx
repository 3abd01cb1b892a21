import { createContext, useContext, useEffect, useRef } from 'react';
import type { UIMessage } from 'ai';
import { Download, Pencil, RefreshCw } from 'lucide-react';
import { Copy } from '../parts/code/copy';
import { IconButton } from '../ui/button';
import { Editor } from './editor';
import { asMarkdown } from './markdown';

export interface Acting {
  editing: { id: string; text: string } | null;
  setEditing: (editing: Acting['editing']) => void;
  edit: (message: UIMessage, text: string) => Promise<void>;
  regenerate: (message: UIMessage) => Promise<void>;
  /** How many messages come after this one. */
  after: (message: UIMessage) => number;
  /** Whether the caller may write in the session. */
  writes: boolean;
}

/** What the buttons of all messages do. */
export const Actions = createContext<Acting | null>(null);

const removes = (n: number) => (n === 0 ? '' : `${n === 1 ? 'The message' : `The ${n} messages`} after this one will be removed. `);

interface ActionsProps {
  message: UIMessage;
  live?: boolean;
  onExport?: (message: string) => void;
}

/** The buttons of a message. While its text is being edited, the editor stands in its place. live: it is still being written. */
export function MessageActions({ message, live = false, onExport }: ActionsProps) {
  const acting = useContext(Actions);
  const pencil = useRef<HTMLButtonElement>(null),
    was = useRef(false);
  const editing = acting?.editing?.id === message.id;
  useEffect(() => {
    if (was.current && !editing) pencil.current?.focus({ preventScroll: true });
    was.current = editing;
  }, [editing]);
  if (!acting) return null;
  const mine = message.role === 'user';
  const text = message.parts.flatMap(p => (p.type === 'text' ? [p.text] : [])).join('\n');
  if (mine && editing) {
    return (
      <Editor
        label="Edit your message"
        text={acting.editing!.text}
        save="Send"
        needsText={!message.parts.some(p => p.type === 'file')}
        note={<>{removes(acting.after(message))}Files that the agent has changed stay as they are.</>}
        onSave={next => void acting.edit(message, next)}
        onCancel={() => acting.setEditing(null)}
      />
    );
  }
  return (
    <div className="message-acts" role="group" aria-label={mine ? 'Your message' : 'The answer'}>
      <Copy text={() => asMarkdown(message)} what="message as Markdown" />
      {mine && acting.writes && (
        <IconButton small ref={pencil} label="Edit" onClick={() => acting.setEditing({ id: message.id, text })}>
          <Pencil aria-hidden="true" />
        </IconButton>
      )}
      {!mine && acting.writes && !live && (
        <IconButton small label="Regenerate" onClick={() => void acting.regenerate(message)}>
          <RefreshCw aria-hidden="true" />
        </IconButton>
      )}
      {!mine && onExport && !live && (
        <IconButton small label="Export this turn" onClick={() => onExport(message.id)}>
          <Download aria-hidden="true" />
        </IconButton>
      )}
    </div>
  );
}
