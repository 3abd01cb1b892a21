import { useState } from 'react';
import { ArrowUp, Paperclip, Pencil, X } from 'lucide-react';
import { Button, IconButton } from '../ui/button';
import { Editor } from './editor';
import type { Queue, Queued as Prompt } from './queue';

interface Then {
  tell: (sentence: string | null) => void;
  /** Takes the keyboard when the button or the field goes that has it. */
  after: () => void;
}

interface Props extends Then {
  queue: Queue;
  /** Whether this person may write here, and whether as the owner of the session. */
  writes: boolean;
  owns: boolean;
}

const many = (n: number, one: string, more: string) => (n === 1 ? `One prompt ${one}` : `${n} prompts ${more}`);

/** The prompts that wait, the next one first. Own prompts can be changed, removed, and sent now. Held ones wait until a person continues. */
export function Queued({ queue, writes, owns, ...then }: Props) {
  const { list } = queue,
    held = list.filter(q => q.held),
    { act, under } = useAct(then);
  if (!list.length) return null;
  return (
    <section className="queued" aria-label="Waiting prompts">
      {list.length > held.length && <p className="queued-head">{many(list.length - held.length, 'waits', 'wait')}</p>}
      {held.length > 0 && (
        <div className="queued-held">
          <p role="status">
            {many(held.length, 'is', 'are')} held until somebody continues or removes {held.length === 1 ? 'it' : 'them'}. A new message
            runs at once.
          </p>
          {writes && (
            <span className="queued-acts">
              <Button small look="primary" disabled={under} onClick={() => void act(queue.goOn())}>
                Continue
              </Button>
              {(owns || list.some(q => q.mine)) && (
                <Button small disabled={under} onClick={() => void act(queue.clear())}>
                  Remove
                </Button>
              )}
            </span>
          )}
        </div>
      )}
      <ol>
        {queue.list.map(q => (
          <Row key={q.turn} prompt={q} queue={queue} {...then} />
        ))}
      </ol>
    </section>
  );
}

/** A change of the queue that is under way. The button that began it may go. */
function useAct({ tell, after }: Then) {
  const [under, setUnder] = useState(false);
  const act = async (done: Promise<void>) => {
    tell(null);
    setUnder(true);
    after();
    try {
      await done;
    } catch (e) {
      tell((e as Error).message);
    } finally {
      setUnder(false);
    }
  };
  return { act, under };
}

function Row({ prompt, queue, tell, after }: Then & { prompt: Prompt; queue: Queue }) {
  const [editing, setEditing] = useState(false),
    { act, under: sent } = useAct({ tell, after });
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
        {prompt.held && <span className="unseen"> held</span>}
      </span>
      {prompt.mine && (
        <span className="queued-acts">
          <button
            type="button"
            className="btn small"
            disabled={sent}
            aria-label={`Send now: ${short}`}
            title={prompt.held ? 'Runs before the others; a turn that runs is stopped' : 'Stops the turn that runs'}
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
