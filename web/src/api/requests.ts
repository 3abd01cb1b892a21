// The permissions and questions of the agents that wait for a person.
import { at, call, reach, transport } from './api';
import { visibleText, type Answer, type PendingRequest } from '@tributary/chat';

/** A request as the gateway has it: a request that a message shows has less. */
export type Request = PendingRequest & Required<Pick<PendingRequest, 'session' | 'session_title' | 'agent' | 'at'>>;

/** All that wait in the sessions of this person, or in one of them; the oldest first. */
export async function listRequests(session?: string): Promise<Request[]> {
  return (await reach(transport.requests(session))) as Request[];
}

export const answerRequest = ({ session, id }: Pick<Request, 'session' | 'id'>, answer: Answer) =>
  reach(transport.answer(session, id, answer));

/** What became of a request that waits no longer, as its records say. */
export async function outcomeOf(session: string, request: string): Promise<string> {
  try {
    const lines = (await (await call('GET', `${at(session)}/trace?request=${encodeURIComponent(request)}`)).text()).split('\n');
    for (const line of lines.filter(Boolean)) {
      const { payload } = JSON.parse(line) as { payload: { outcome?: string; by?: string; values?: string[]; option_kind?: string } };
      if (!payload.outcome) continue; // what was asked
      if (payload.outcome !== 'selected') return 'Nobody has answered it: the turn is over, or the agent has withdrawn it.';
      const who = payload.by ?? 'Somebody';
      if (payload.values) return visibleText(`${who} answered: ${payload.values.join(', ')}`);
      return `${who} has ${payload.option_kind?.startsWith('reject') ? 'denied' : 'allowed'} it.`;
    }
  } catch (e) {
    return (e as Error).message;
  }
  return 'There is no such request in this session.';
}
