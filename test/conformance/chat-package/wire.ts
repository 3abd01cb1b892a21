// The types of the routes, as an app uses them. A line below @ts-expect-error must not compile.
import type { Agent, Answer, components, Controls, PendingRequest, Session, SessionEvent, TributaryTransport } from '@tributary/chat';

export const agents = async (transport: TributaryTransport): Promise<Agent[]> =>
  (await transport.call<{ agents: Agent[] }>('GET', '/api/agents')).agents;

export const controls = (transport: TributaryTransport, { id }: Session) =>
  transport.call<Controls>('GET', `/api/sessions/${encodeURIComponent(id)}/controls`);

export function rename(transport: TributaryTransport, { id }: Session, title: string) {
  const body: components['schemas']['SessionChange'] = { title, archived: false };
  return transport.call<Session>('PATCH', `/api/sessions/${encodeURIComponent(id)}`, body);
}

/** Each type of event has its own keys. */
export function told(event: SessionEvent): string {
  switch (event.type) {
    case 'session':
      return event.turns.map(({ turn, state }) => `${turn} is ${state}`).join();
    case 'turn':
      return event.state === 'ended' ? (event.outcome ?? '') : (event.requests ?? []).join();
    case 'history':
      return event.to;
    case 'title':
      return event.title;
    case 'deleted':
      return '';
  }
}

/** The keys that the document requires are there without a question mark, and the words of a list are known. */
export const line = ({ id, title, state, turn, role }: Session): string =>
  [id, title.length, state === 'paused' ? 'waits' : state, turn?.length, role === 'viewer'].join();
export const asked = ({ kind, options, tool_kind }: PendingRequest) => [
  kind === 'question',
  tool_kind === 'execute',
  options?.find(option => option.kind === 'allow_always')?.scope,
];

export const answers: Answer[] = [
  { approved: true, updated_input: { command: 'ls' } },
  { option: 'allow_always' },
  { approved: false, reason: 'no', interrupt: true },
  { value: ['a', 'b'] },
];
// @ts-expect-error approved and option may say the opposite of each other
export const both: Answer = { approved: true, option: 'reject_once' };
// @ts-expect-error there is no such state
export const unknown: Session['state'] = 'asleep';
