import { memo, useState } from 'react';
import type { UIMessage } from 'ai';
import { RotateCw } from 'lucide-react';
import { Copy } from '../parts/code/copy';
import { DataPart } from '../parts/data';
import { FilePart, Sources } from '../parts/file';
import { Markdown } from '../parts/markdown/markdown';
import { Plan } from '../parts/plan';
import { Reasoning } from '../parts/reasoning';
import { Subagent } from '../parts/subagent';
import { Tool } from '../parts/tool/tool';
import { line, usageOf } from '../parts/usage';
import { Guard } from '../ui/guard';
import { Asking, Decided, Past, Questioned } from './asked';
import { useShared } from './context';
import { asks, isAsking } from './requests';
import { Scores } from './score';
import { itemsOf, wordsOf, type Item, type Part } from './view';

interface Props {
  message: UIMessage;
  /** It is being written, on the stream of this page. */
  live: boolean;
  /** Its turn is not over. */
  open: boolean;
  last: boolean;
}

/** A message: that of a person as they wrote it, that of the agent part by part. */
export const Message = memo(function Message(props: Props) {
  const { message, open } = props;
  const user = message.role === 'user';
  return (
    <article className={`message ${user ? 'user' : 'agent-says'}`} aria-label={user ? 'You' : 'The agent'}>
      {user ? <Prompt message={message} /> : <Answer {...props} />}
      {!open && <Foot {...props} />}
    </article>
  );
});

function Prompt({ message }: { message: UIMessage }) {
  const words = wordsOf(message),
    files = message.parts.filter(p => p.type === 'file');
  return (
    <>
      {files.length > 0 && (
        <div className="files">
          {files.map((f, i) => (
            <FilePart key={i} url={f.url} mediaType={f.mediaType} name={f.filename} />
          ))}
        </div>
      )}
      {words && <Words text={words} />}
    </>
  );
}

const MANY = 30,
  LONG = 3000;

/** A prompt as it was written; of a long one, the beginning until it is asked for. */
function Words({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const lines = text.split('\n'),
    cut = lines.length > MANY + 10 || text.length > LONG + 500;
  return (
    <div className="prompt" dir="auto">
      {all || !cut ? text : `${lines.slice(0, MANY).join('\n').slice(0, LONG)}…`}
      {cut && (
        <button type="button" className="btn quiet small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  );
}

const outcomeOf = (message: UIMessage) => (message.metadata as { outcome?: string } | undefined)?.outcome ?? '';

/** That somebody has stopped the turn is said below the message. Another reason is a sentence of its own, and no error. */
function stopping(part: Part): Part[] {
  if (part.type !== 'data-error') return [part];
  const { reason } = (part as { data: { reason?: string } | null }).data ?? {};
  return reason === undefined || reason === 'stopped' ? [] : [{ ...part, type: 'data-notice' }];
}

/** An agent may send data in any shape. */
const UNDRAWN = <p className="notice">This part of the answer has a form that the page cannot show. The export of the session has it.</p>;

function Answer({ message, live, open, last }: Props) {
  const parts = outcomeOf(message) === 'canceled' ? message.parts.flatMap(stopping) : message.parts;
  const waits = !live && isAsking(message);
  return itemsOf(parts, open).map(item => (
    <Guard key={item.at} of={item} instead={UNDRAWN}>
      <Drawn item={item} id={`${message.id} ${item.at}`} live={live} over={!open} waits={waits} past={!last} />
    </Guard>
  ));
}

interface DrawnProps {
  item: Item;
  id: string;
  live: boolean;
  over: boolean;
  waits: boolean;
  /** Others follow the message, so its requests can be answered no more. The stream that brought them does not say so. */
  past: boolean;
}

function Drawn({ item, id, live, over, waits, past }: DrawnProps) {
  switch (item.type) {
    case 'call':
      return (
        <Tool
          part={item.part}
          waits={waits}
          over={over}
          past={past}
          diffs={item.diffs}
          decision={
            <>
              <Decided part={item.part} />
              {asks(item.part) !== null && (past ? <Past /> : <Asking part={item.part} bare />)}
            </>
          }
          inside={item.subagent && <Subagent {...item.subagent} />}
        />
      );
    case 'request':
      return asks(item.part) === null ? (
        <Decided part={item.part} />
      ) : past ? (
        <Past part={item.part} />
      ) : (
        <div className="asked">
          <Asking part={item.part} bare={false} />
        </div>
      );
    case 'question':
      return <Questioned part={item.part} past={past} />;
    case 'subagent':
      return <Subagent {...item.team} />;
    case 'plan':
      return <Plan entries={item.entries} />;
    case 'sources':
      return <Sources sources={item.sources} />;
    case 'part':
      return <Plain part={item.part} id={id} live={live} />;
  }
}

function Plain({ part, id, live }: { part: Part; id: string; live: boolean }) {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} live={live && part.state === 'streaming'} />;
    case 'reasoning':
      return <Reasoning id={id} text={part.text} live={live && part.state === 'streaming'} />;
    case 'file':
      return (
        <div className="files">
          <FilePart url={part.url} mediaType={part.mediaType} name={part.filename} />
        </div>
      );
  }
  return part.type.startsWith('data-') ? (
    <DataPart name={part.type.slice('data-'.length)} data={(part as { data: unknown }).data} />
  ) : (
    <DataPart name={part.type} data={part} />
  );
}

/** What stands below a message: how its turn ended, what it has cost, and what a person can do with it. */
function Foot({ message, last }: Props) {
  const { actions, retry, scores } = useShared();
  const agent = message.role === 'assistant',
    outcome = outcomeOf(message),
    words = wordsOf(message);
  const failed = agent && outcome !== 'canceled' && (outcome === 'failed' || message.parts.some(p => p.type === 'data-error'));
  const usage = agent ? usageOf(message) : null,
    cost = usage ? line(usage) : '';
  return (
    <div className="foot">
      {agent && outcome === 'canceled' && <p className="outcome">Stopped.</p>}
      {failed && <p className="outcome bad">This turn failed.</p>}
      {failed && last && (
        <button type="button" className="btn small" onClick={() => retry(message)}>
          <RotateCw aria-hidden="true" />
          Try again
        </button>
      )}
      {cost && <p className="usage">{cost}</p>}
      <Scores scores={scores.get(message.id) ?? []} />
      <span className="foot-actions">{actions ? actions(message, last) : words && <Copy text={words} what="message" />}</span>
    </div>
  );
}
