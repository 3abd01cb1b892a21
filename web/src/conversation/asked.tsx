import { requestIn, type AskUserInput, type PendingRequest } from '@tributary/chat';
import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { Check, CircleSlash, MessageCircleQuestion } from 'lucide-react';
import { Ask } from '../ask/ask';
import { Input } from '../parts/input';
import { Visible } from '../parts/visible';
import { useShared } from './context';
import { asks } from './requests';
import { sentenceOf } from './decisions';

type Call = DynamicToolUIPart | ToolUIPart;

/** The card of a request that waits. bare: its title stands above it. */
export function Asking({ part, bare }: { part: Call; bare: boolean }) {
  const { requests, give } = useShared();
  const id = asks(part);
  if (id === null) return null;
  const request = requests.get(id);
  if (!request) {
    // buttons that change under a finger are worse than none for a moment
    const { input, input_text } = requestIn(part, '') ?? {};
    return (
      <div className="ask" aria-busy="true">
        <Input input={input} inputText={input_text} name="input" />
      </div>
    );
  }
  return <Ask request={request} bare={bare} give={answer => give(request, answer)} />;
}

/** The requests of the session that no message shows yet, because the message shows what is asked first. */
export function Others({ of: requests }: { of: PendingRequest[] }) {
  const { give } = useShared();
  if (!requests.length) return null;
  return (
    <section className="asked" aria-label="Other requests that wait">
      <p className="note">{requests.length === 1 ? 'One more request waits:' : `${requests.length} more requests wait:`}</p>
      {requests.map(request => (
        <Ask key={request.id} request={request} give={answer => give(request, answer)} />
      ))}
    </section>
  );
}

/** What stands in the place of a request that can be answered no more. part: said in its words, where no card stands above. */
export function Past({ part }: { part?: Call }) {
  const { title, text } = (part && requestIn(part, '')) ?? {};
  const what = text ?? title;
  return (
    <p className="decided denied">
      <CircleSlash size={14} aria-hidden="true" />
      <span>
        {what && (
          <>
            <bdi>
              <Visible text={what} />
            </bdi>{' '}
          </>
        )}
        This can no longer be answered: the conversation has gone on.
      </span>
    </p>
  );
}

/** Who has allowed or denied a call. */
export function Decided({ part }: { part: Call }) {
  const { decisions } = useShared();
  if (!part.approval || part.state === 'approval-requested') return null;
  const { id, approved, reason } = part.approval,
    decision = decisions.get(id);
  if (approved === undefined && !decision) return null;
  const denied = approved === undefined ? decision?.denied : !approved;
  const Icon = denied ? CircleSlash : Check;
  return (
    <p className={denied ? 'decided denied' : 'decided'}>
      <Icon size={14} aria-hidden="true" />
      {sentenceOf(decision, approved, reason)}
    </p>
  );
}

const said = (output: unknown): string => {
  if (typeof output === 'string') return output;
  const values = Array.isArray(output) ? output : (output as { values?: unknown } | null)?.values;
  return Array.isArray(values) ? values.join(', ') : JSON.stringify(output ?? '');
};

/** A question and its answer, or the form for the answer. */
export function Questioned({ part, past }: { part: ToolUIPart; past: boolean }) {
  const { decisions } = useShared();
  if (part.state === 'input-streaming') return null;
  if (asks(part) !== null)
    return past ? (
      <Past part={part} />
    ) : (
      <div className="asked">
        <Asking part={part} bare={false} />
      </div>
    );
  const { question: text, question_id: id } = (part.input ?? {}) as Partial<AskUserInput>,
    decision = decisions.get(id ?? part.toolCallId);
  const who = decision && !decision.mine && decision.by ? decision.by : null;
  return (
    <p className="answered">
      <MessageCircleQuestion size={15} aria-hidden="true" />
      <span>
        <bdi>
          <Visible text={text ?? ''} />
        </bdi>{' '}
        {part.state === 'output-available' ? (
          <strong dir="auto">
            <Visible text={said(part.output)} />
          </strong>
        ) : (
          <em>{part.errorText}</em>
        )}
        {who && <span className="decided-by"> ({who})</span>}
      </span>
    </p>
  );
}
