import { memo } from 'react';
import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import type { Answers } from './answers';
import { DataPart, isCounted } from './parts/data';
import { FilePart, SourcePart } from './parts/file';
import { Question } from './parts/question';
import { Reasoning } from './parts/reasoning';
import { Text } from './parts/text';
import { Tool } from './parts/tool';

interface Props { message: UIMessage; session: string; live: boolean; answers: Answers }

const OUTCOME: Record<string, string> = { canceled: 'Stopped.', failed: 'This turn failed.' };

/** Whether a text only says in words what the buttons beside it ask: it is for pages that have none. */
function asksInWords(part: AnyPart, next: AnyPart | undefined, all: AnyPart[]): boolean {
  if (part.type !== 'text') return false;
  if (next?.type === 'tool-AskUser') {
    const { question } = ((next as ToolUIPart).input ?? {}) as { question?: string };
    return !!question && part.text.startsWith(question);
  }
  return part.text.startsWith('Permission needed: ') && all.some(p => 'approval' in p && p.approval);
}

const asks = (part: AnyPart) => 'state' in part && part.state === 'approval-requested';

/** Whether a part only carried a request for a call that has a card of its own, and was answered. */
const isAnswered = (part: AnyPart) => part.type === 'dynamic-tool' && !!part.approval && !asks(part) && part.toolCallId === `permission-${part.approval.id}`;

export const Message = memo(function Message({ message, session, live, answers }: Props) {
  const outcome = (message.metadata as { outcome?: string } | undefined)?.outcome ?? '';
  // That somebody stopped the turn is said once, and is no error.
  const parts = outcome === 'canceled' ? message.parts.filter(part => part.type !== 'data-error') : message.parts;
  return (
    <article className={`message ${message.role}`} aria-label={message.role === 'user' ? 'You' : 'The agent'}>
      {parts.map((part, i) => !asksInWords(part, parts[i + 1], parts) && !isCounted(part, parts) && !isAnswered(part) && (
        <Part key={i} part={part} session={session} live={live} waits={!live && parts.some(asks)} answers={answers} />
      ))}
      {!live && OUTCOME[outcome] && <p className="outcome">{OUTCOME[outcome]}</p>}
    </article>
  );
});

type AnyPart = UIMessage['parts'][number];

function Part({ part, session, live, waits, answers }: { part: AnyPart; session: string; live: boolean; waits: boolean; answers: Answers }) {
  switch (part.type) {
    case 'text': return <Text text={part.text} />;
    case 'reasoning': return <Reasoning text={part.text} live={live && part.state === 'streaming'} />;
    case 'file': return <FilePart url={part.url} mediaType={part.mediaType} name={part.filename} />;
    case 'source-url': return <SourcePart url={part.url} title={part.title ?? part.url} />;
    case 'source-document': return <SourcePart title={part.title} />;
    case 'step-start': return null;
  }
  if (part.type === 'tool-AskUser') return <Question part={part as ToolUIPart} reply={answers.reply} />;
  if (part.type === 'dynamic-tool' || part.type.startsWith('tool-')) {
    return <Tool part={part as DynamicToolUIPart | ToolUIPart} session={session} waits={waits} permit={answers.permit} />;
  }
  if (part.type.startsWith('data-')) return <DataPart name={part.type.slice(5)} data={(part as { data: unknown }).data} />;
  return <DataPart name={part.type} data={part} />;
}
