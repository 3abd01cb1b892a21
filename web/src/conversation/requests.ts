// The requests of this session that wait for a person.
import { useState } from 'react';
import { requestIn, type PendingRequest } from '@tributary/chat';
import type { UIMessage } from 'ai';

/** The id of the request that a part asks now; null if it asks nothing. */
export const asks = (part: UIMessage['parts'][number]): string | null => requestIn(part, '')?.id ?? null;

/** The requests that this message does not show. */
export function othersBeside(message: UIMessage | undefined, requests: PendingRequest[]): PendingRequest[] {
  const shown = new Set(message?.parts.map(asks));
  return requests.filter(r => !shown.has(r.id));
}

/** Whether a message asks somebody something. */
export const isAsking = (message: UIMessage | undefined) => message?.role === 'assistant' && message.parts.some(p => asks(p) !== null);

/** The requests by their ids, once the gateway has said all about them. A request that this page has answered has its card until the message goes on. */
export function useRequests(requests: PendingRequest[]): ReadonlyMap<string, PendingRequest> {
  const [known, setKnown] = useState<ReadonlyMap<string, PendingRequest>>(new Map());
  const more = requests.filter(r => r.may_answer !== undefined && !known.has(r.id));
  if (more.length) setKnown(new Map([...known, ...more.map(r => [r.id, r] as const)]));
  return known;
}
