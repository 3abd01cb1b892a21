// The decisions on requests: as the messages tell them, and before that as this page has answered.
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { UIMessage } from 'ai';
import { me } from '../api/signin';
import { visibleText, type Answer, type PendingRequest } from '@tributary/chat';
import { factsOf } from '../parts/tool/state';
import { isCall } from './view';

export interface Decision {
  outcome: 'selected' | 'canceled' | 'expired';
  by?: string;
  /** Whether the person of this page did it. */
  mine?: boolean;
  /** The name of the chosen option. */
  option?: string;
  denied?: boolean;
  edited?: boolean;
  reason?: string;
}

type Told = [id: string, Decision][];

const read = new WeakMap<UIMessage, Told>();

/** The decisions that a message tells, with the ids of their requests. */
function decisionsIn(message: UIMessage): Told {
  let found = read.get(message);
  if (!found) {
    found = message.parts.filter(isCall).flatMap((part): Told => {
      const told = factsOf(part).decision,
        id = part.approval?.id ?? (part.input as { question_id?: string } | undefined)?.question_id ?? part.toolCallId;
      return told ? [[id, { ...told, reason: part.approval?.reason, denied: part.approval?.approved === false }]] : [];
    });
    read.set(message, found);
  }
  return found;
}

/** What was decided about the requests in these messages; decided notes an answer of this page at once. */
export function useDecisions(messages: UIMessage[]) {
  const [known, setKnown] = useState<ReadonlyMap<string, Decision>>(new Map()),
    [self, setSelf] = useState<string | null>(null);
  const told = useMemo(() => JSON.stringify(messages.flatMap(decisionsIn)), [messages]),
    any = told !== '[]';
  useEffect(() => {
    if (any)
      me().then(
        who => setSelf(who?.user?.id ?? ''),
        () => setSelf(''),
      );
  }, [any]);
  const decisions = useMemo(() => {
    // the messages change with each word, and what is told only now and then
    const by =
      self === null
        ? []
        : (JSON.parse(told) as Told).map(([id, d]): [string, Decision] => [id, { ...d, mine: d.by !== undefined && d.by === self }]);
    return new Map([...known, ...by]);
  }, [known, told, self]);
  const decided = useCallback((request: PendingRequest, answer: Answer) => {
    const option = 'option' in answer ? request.options?.find(o => o.id === answer.option) : undefined;
    const decision: Decision =
      'value' in answer
        ? { outcome: 'selected', mine: true }
        : {
            outcome: 'selected',
            mine: true,
            option: option?.name,
            reason: answer.reason,
            edited: answer.updated_input !== undefined,
            denied: option ? option.kind?.startsWith('reject') : answer.approved === false,
          };
    setKnown(now => new Map(now).set(request.id, decision));
  }, []);
  return { decisions, decided };
}

/** A decision as a sentence, in which the agent's names of options are visible. approved: what the message itself says of it. */
export const sentenceOf = (...told: Parameters<typeof said>) => visibleText(said(...told));

function said(decision: Decision | undefined, approved: boolean | undefined, reason: string | undefined): string {
  if (!decision) return `${approved ? 'Allowed' : 'Not allowed'}${reason && !approved ? `: ${reason}` : '.'}`; // nobody may have refused it
  const d = decision;
  if (d.outcome === 'expired') return 'Nobody answered in time.';
  if (d.outcome === 'canceled') return (d.reason ?? reason) ? `Withdrawn: ${d.reason ?? reason}` : 'The request was withdrawn.';
  const denied = approved === undefined ? d.denied : !approved;
  const who = d.mine ? 'you' : d.by;
  const how = [d.option && !/^(allow|deny|yes|no|reject)( once)?$/i.test(d.option) && `“${d.option}”`, d.edited && 'with an edited input']
    .filter(Boolean)
    .join(', ');
  const why = denied ? (d.reason ?? reason) : undefined;
  return `${denied ? 'Denied' : 'Allowed'}${who ? ` by ${who}` : ''}${how ? `, ${how}` : ''}${why ? `: ${why}` : '.'}`;
}
