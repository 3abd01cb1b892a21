// A permission: what the agent wants to do, and the ways to answer.
import { useMemo, useState } from 'react';
import { Check, PencilLine, X } from 'lucide-react';
import {
  escapedJson,
  inputView,
  visiblePieces,
  visibleText,
  type PendingRequest,
  type PermissionAnswer,
  type RequestOption,
} from '@tributary/chat';
import { Input } from '../parts/input';
import { Visible } from '../parts/visible';
import { Button } from '../ui/button';
import { useAnswer, type Give } from './answer';
import { allows, denies, effect } from './words';

interface Props {
  request: PendingRequest;
  give: Give;
  /** The title stands above the card already. */
  bare?: boolean;
}

/** The agent's own options; where it has none, yes and no. */
function answers(options: RequestOption[] | undefined): { option: RequestOption; permit: PermissionAnswer }[] {
  if (options?.length) return options.map(option => ({ option, permit: { option: option.id } }));
  return [
    { option: { id: 'allow', name: 'Allow', kind: 'allow_once' }, permit: { approved: true } },
    { option: { id: 'deny', name: 'Deny', kind: 'reject_once' }, permit: { approved: false } },
  ];
}

/** The title. A command of several lines in it is cut to its first line, because the whole command stands below. */
function brief({ title, input, input_text }: PendingRequest): string {
  const { command } = inputView(input, [], input_text);
  return command?.includes('\n') ? title.replace(command, () => `${command.split('\n')[0]!}…`) : title;
}

const look = (o: RequestOption) => (o.kind === 'allow_once' ? 'primary' : denies(o) ? 'danger' : 'plain');

export function Approval({ request, give, bare }: Props) {
  const { sent, problem, answer } = useAnswer(give);
  const [open, setOpen] = useState<'' | 'reason' | 'edit'>(''),
    [left, setLeft] = useState<typeof open>(''); // whose button has the keyboard again
  const back = () => {
    setLeft(open);
    setOpen('');
  };
  const all = answers(request.options);
  const editable = request.takes_input && !request.input_text; // an edited input is sent as JSON that the browser has read
  const yes = all.find(a => a.option.kind === 'allow_once') ?? all.find(a => allows(a.option)),
    no = all.find(a => a.option.kind === 'reject_once') ?? all.find(a => denies(a.option));
  return (
    <div className="ask" role="group" aria-label={`Permission: ${visibleText(request.title)}`}>
      <p className="ask-title" dir="auto">
        <Visible text={(!bare && brief(request)) || 'May the agent do this?'} />
      </p>
      {open !== 'edit' && <Input input={request.input} inputText={request.input_text} name="input" />}
      {problem && (
        <p className="ask-problem" role="alert">
          {problem}
        </p>
      )}
      {!request.may_answer ? (
        <p className="ask-note">You may see this request. Somebody who collaborates in the session answers it.</p>
      ) : open ? (
        open === 'reason' ? (
          <Reason sent={sent} onBack={back} onSend={reason => void answer({ ...(no?.permit ?? { approved: false }), reason })} />
        ) : (
          <Edit
            input={request.input}
            sent={sent}
            onBack={back}
            onSend={updated_input => void answer({ ...(yes?.permit ?? { approved: true }), updated_input })}
          />
        )
      ) : (
        <>
          <div className="ask-options">
            {all.map(({ option, permit }) => (
              <Button key={option.id} look={look(option)} disabled={sent} onClick={() => void answer(permit)}>
                <Effect of={option} />
                <span className="ask-option">
                  <span dir="auto">
                    <Visible text={option.name} />
                  </span>
                  {option.scope && (
                    <small>
                      <Visible text={option.scope} />
                    </small>
                  )}
                </span>
              </Button>
            ))}
          </div>
          {((request.takes_reason && no) || (editable && yes)) && (
            <div className="ask-more">
              {editable && yes && (
                <Button look="quiet" small autoFocus={left === 'edit'} disabled={sent} onClick={() => setOpen('edit')}>
                  <PencilLine />
                  Edit, then allow
                </Button>
              )}
              {request.takes_reason && no && (
                <Button look="quiet" small autoFocus={left === 'reason'} disabled={sent} onClick={() => setOpen('reason')}>
                  <X />
                  Deny with a reason
                </Button>
              )}
            </div>
          )}
        </>
      )}
    </div>
  );
}

/** The gateway's own word in front of a name that does not say what its option does. */
function Effect({ of }: { of: RequestOption }) {
  const does = effect(of),
    Icon = does === 'allows' ? Check : X;
  return (
    does && (
      <span className="ask-effect">
        <Icon aria-hidden="true" />
        {does}:{' '}
      </span>
    )
  );
}

interface StepProps<T> {
  sent: boolean;
  onBack: () => void;
  onSend: (value: T) => void;
}

function Reason({ sent, onBack, onSend }: StepProps<string>) {
  const [reason, setReason] = useState('');
  return (
    <form
      className="ask-step"
      onSubmit={e => {
        e.preventDefault();
        if (reason.trim()) onSend(reason.trim());
      }}
    >
      <label className="field">
        <span>Why not? The agent reads this.</span>
        <textarea
          className="input"
          dir="auto"
          rows={3}
          autoFocus
          value={reason}
          disabled={sent}
          onChange={e => setReason(e.target.value)}
          onKeyDown={leave(onBack)}
        />
      </label>
      <div className="actions">
        <Button onClick={onBack} disabled={sent}>
          Back
        </Button>
        <Button type="submit" look="danger" disabled={sent || !reason.trim()}>
          Deny
        </Button>
      </div>
    </form>
  );
}

const leave = (back: () => void) => (e: React.KeyboardEvent) => {
  if (e.key === 'Escape') {
    e.preventDefault();
    e.stopPropagation();
    back();
  }
};

/** The key of the command, if a text field can hold the command as it is: hidden characters could not be seen in one. */
function commandKey(input: unknown): string | undefined {
  const { command } = inputView(input);
  if (command === undefined || visiblePieces(command).some(piece => piece.mark)) return undefined;
  const fields = input as Record<string, unknown>;
  return fields.command === command ? 'command' : 'cmd';
}

function Edit({ input, sent, onBack, onSend }: StepProps<unknown> & { input: unknown }) {
  const [key] = useState(() => commandKey(input));
  const [text, setText] = useState(
    key === undefined ? escapedJson(JSON.stringify(input ?? {}, null, 2)) : (input as Record<string, string>)[key]!,
  );
  const [problem, setProblem] = useState('');
  return (
    <form
      className="ask-step"
      onSubmit={e => {
        e.preventDefault();
        if (key !== undefined) {
          onSend({ ...(input as object), [key]: text });
          return;
        }
        try {
          onSend(JSON.parse(text));
        } catch (wrong) {
          setProblem(`This is no JSON: ${(wrong as Error).message}`);
        }
      }}
    >
      <label className="field">
        <span>{key === undefined ? 'The input, as JSON' : 'The command'}</span>
        <textarea
          className="input code"
          rows={Math.min(16, text.split('\n').length + 1)}
          autoFocus
          spellCheck={false}
          value={text}
          disabled={sent}
          onChange={e => {
            setText(e.target.value);
            setProblem('');
          }}
          onKeyDown={leave(onBack)}
        />
      </label>
      {key !== undefined && <Others input={input as Record<string, unknown>} of={key} />}
      {problem && (
        <p className="ask-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <Button onClick={onBack} disabled={sent}>
          Back
        </Button>
        <Button type="submit" look="primary" disabled={sent || !text.trim()}>
          <Check />
          Allow as edited
        </Button>
      </div>
    </form>
  );
}

/** The keys that stay as they are while one of them is edited. */
function Others({ input, of }: { input: Record<string, unknown>; of: string }) {
  const without = useMemo(() => [of], [of]);
  return Object.keys(input).length > 1 && <Input input={input} without={without} name="input" />;
}
