// A permission: what the agent wants to do, and the ways to answer.
import { useRef, useState } from 'react';
import { Check, PencilLine, X } from 'lucide-react';
import type { PendingRequest, PermissionAnswer, RequestOption } from '@tributary/chat';
import { Button } from '../ui/button';
import { commandOf, Subject } from './subject';
import { useAnswer, type Give } from './answer';
import { allows, denies } from './words';

interface Props {
  request: PendingRequest;
  give: Give;
  /** The input stands above the card already. */
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

/** The title; only its first line if the command, which stands below, is in it. */
function brief({ title, input }: PendingRequest): string {
  const command = commandOf(input)?.text;
  return command && title.includes(command) ? title.split('\n')[0]! : title;
}

const look = (o: RequestOption) => (o.kind === 'allow_once' ? 'primary' : denies(o) ? 'danger' : 'plain');

export function Approval({ request, give, bare }: Props) {
  const { sent, problem, answer } = useAnswer(give);
  const [open, setOpen] = useState<'' | 'reason' | 'edit'>('');
  const all = answers(request.options);
  const yes = all.find(a => a.option.kind === 'allow_once') ?? all.find(a => allows(a.option)), no = all.find(a => a.option.kind === 'reject_once') ?? all.find(a => denies(a.option));
  return (
    <div className="ask" role="group" aria-label={`Permission: ${request.title}`}>
      <p className="ask-title">{bare ? 'May the agent do this?' : brief(request) || 'May the agent do this?'}</p>
      {!bare && open !== 'edit' && <Subject request={request} />}
      {problem && <p className="ask-problem" role="alert">{problem}</p>}
      {!request.may_answer ? <p className="ask-note">You may see this request. Somebody who collaborates in the session answers it.</p> : open ? (
        open === 'reason'
          ? <Reason sent={sent} onBack={() => setOpen('')} onSend={reason => void answer({ ...(no?.permit ?? { approved: false }), reason })} />
          : <Edit input={request.input} sent={sent} onBack={() => setOpen('')} onSend={updated_input => void answer({ ...(yes?.permit ?? { approved: true }), updated_input })} />
      ) : (
        <>
          <div className="ask-options">
            {all.map(({ option, permit }) => (
              <Button key={option.id} look={look(option)} disabled={sent} onClick={() => void answer(permit)}>
                <span className="ask-option"><span>{option.name}</span>{option.scope && <small>{option.scope}</small>}</span>
              </Button>
            ))}
          </div>
          {((request.takes_reason && no) || (request.takes_input && yes)) && (
            <div className="ask-more">
              {request.takes_input && yes && <Button look="quiet" small disabled={sent} onClick={() => setOpen('edit')}><PencilLine />Edit, then allow</Button>}
              {request.takes_reason && no && <Button look="quiet" small disabled={sent} onClick={() => setOpen('reason')}><X />Deny with a reason</Button>}
            </div>
          )}
        </>
      )}
    </div>
  );
}

interface StepProps<T> { sent: boolean; onBack: () => void; onSend: (value: T) => void }

function Reason({ sent, onBack, onSend }: StepProps<string>) {
  const [reason, setReason] = useState('');
  return (
    <form className="ask-step" onSubmit={e => { e.preventDefault(); if (reason.trim()) onSend(reason.trim()); }}>
      <label className="field"><span>Why not? The agent reads this.</span>
        <textarea className="input" rows={3} autoFocus value={reason} disabled={sent} onChange={e => setReason(e.target.value)} onKeyDown={leave(onBack)} />
      </label>
      <div className="actions"><Button onClick={onBack} disabled={sent}>Back</Button><Button type="submit" look="danger" disabled={sent || !reason.trim()}>Deny</Button></div>
    </form>
  );
}

const leave = (back: () => void) => (e: React.KeyboardEvent) => { if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); back(); } };

function Edit({ input, sent, onBack, onSend }: StepProps<unknown> & { input: unknown }) {
  const command = useRef(commandOf(input)).current;
  const [text, setText] = useState(command?.text ?? JSON.stringify(input ?? {}, null, 2));
  const [problem, setProblem] = useState('');
  return (
    <form className="ask-step" onSubmit={e => {
      e.preventDefault();
      if (command) { onSend(command.with(text)); return; }
      try { onSend(JSON.parse(text)); } catch (wrong) { setProblem(`This is no JSON: ${(wrong as Error).message}`); }
    }}>
      <label className="field"><span>{command ? 'The command' : 'The input, as JSON'}</span>
        <textarea className="input code" rows={Math.min(16, text.split('\n').length + 1)} autoFocus spellCheck={false} value={text} disabled={sent} onChange={e => { setText(e.target.value); setProblem(''); }} onKeyDown={leave(onBack)} />
      </label>
      {problem && <p className="ask-problem" role="alert">{problem}</p>}
      <div className="actions"><Button onClick={onBack} disabled={sent}>Back</Button><Button type="submit" look="primary" disabled={sent || !text.trim()}><Check />Allow as edited</Button></div>
    </form>
  );
}
