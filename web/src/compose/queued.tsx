import { useState } from 'react';
import { ArrowUp, Paperclip, Pencil, X } from 'lucide-react';
import { IconButton } from '../ui/button';
import { Editor } from './editor';
import type { Queue, Queued as Prompt } from './queue';

interface Then {
  tell: (sentence: string | null) => void;
  /** Takes the keyboard when the button or the field goes that has it. */
  after: () => void;
}

/** The prompts that wait, the next one first. Own prompts can be changed, removed, and sent now. */
export function Queued({ queue, ...then }: Then & { queue: Queue }) {
  if (!queue.list.length) return null;
  return (
    <section className="queued" aria-label="Waiting prompts">
      <p className="queued-head">{queue.list.length === 1 ? 'One prompt waits' : `${queue.list.length} prompts wait`}</p>
      <ol>
        {queue.list.map(q => (
          <Row key={q.turn} prompt={q} queue={queue} {...then} />
        ))}
      </ol>
    </section>
  );
}

function Row({ prompt, queue, tell, after }: Then & { prompt: Prompt; queue: Queue }) {
  const [editing, setEditing] = useState(false),
    [sent, setSent] = useState(false);
  const act = async (done: Promise<void>) => {
    tell(null);
    setSent(true);
    after();
    try {
      await done;
    } catch (e) {
      tell((e as Error).message);
    } finally {
      setSent(false);
    }
  };
  const short = prompt.text.length > 40 ? `${prompt.text.slice(0, 40)}…` : prompt.text;
  if (editing) {
    return (
      <li className="queued-row">
        <Editor
          label="Waiting prompt"
          text={prompt.text}
          save="Save"
          needsText={!prompt.files}
          onSave={text => {
            setEditing(false);
            void act(queue.edit(prompt.turn, text));
          }}
          onCancel={() => {
            setEditing(false);
            after();
          }}
        />
      </li>
    );
  }
  return (
    <li className="queued-row">
      <span className="queued-text" dir="auto">
        {prompt.text}
      </span>
      <span className="queued-by">
        {prompt.files ? (
          <span className="queued-files">
            <Paperclip aria-hidden="true" />
            {prompt.files}
            <span className="unseen"> files</span>
          </span>
        ) : null}
        {prompt.mine ? 'you' : prompt.by}
      </span>
      {prompt.mine && (
        <span className="queued-acts">
          <button
            type="button"
            className="btn small"
            disabled={sent}
            aria-label={`Send now: ${short}`}
            title="Stops the turn that runs"
            onClick={() => void act(queue.promote(prompt.turn))}
          >
            <ArrowUp aria-hidden="true" />
            Send now
          </button>
          <IconButton small label={`Edit: ${short}`} disabled={sent} onClick={() => setEditing(true)}>
            <Pencil aria-hidden="true" />
          </IconButton>
          <IconButton small label={`Remove: ${short}`} disabled={sent} onClick={() => void act(queue.remove(prompt.turn))}>
            <X aria-hidden="true" />
          </IconButton>
        </span>
      )}
    </li>
  );
}
