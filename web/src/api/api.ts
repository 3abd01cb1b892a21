// The gateway's JSON side. The cookie goes along by itself, and signin.ts adds the page's secret.
import { isNetworkError, TributaryError, TributaryTransport, type Agent, type Controls, type Score, type Session } from '@tributary/chat';
import type { UIMessage } from 'ai';
import { ask, onSignedIn } from './signin';

export type { Agent, Choice as Named, Command, Controls, Score, Session } from '@tributary/chat';

/** The gateway, for everything. With `compat: rfc` a stream holds nothing that this page could answer, so the transport asks for none. */
export const transport = new TributaryTransport<UIMessage>({ client: '7', fetch: ask });
onSignedIn(() => transport.retry());

export const at = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export const UNREACHED = 'The gateway cannot be reached.';

/** What an error says to a person. */
export const said = (e: Error) => (isNetworkError(e as unknown) ? UNREACHED : e.message);

/** Does something at the gateway, with errors that say something to a person. */
export const reach = async <T>(what: Promise<T>): Promise<T> => {
  try {
    return await what;
  } catch (e) {
    throw isNetworkError(e) ? new Error(UNREACHED) : e;
  }
};

export const call = (...request: Parameters<typeof transport.response>) => reach(transport.response(...request));

/** Why the list cannot be read now; refused: this browser is not signed in. */
export interface Problem {
  sentence: string;
  refused: boolean;
}

export function problemOf(e: Error | undefined): Problem {
  const refused = e instanceof TributaryError && e.status === 401;
  return { sentence: refused ? e.message : `${e ? said(e) : 'The connection was lost.'} Trying again…`, refused };
}

/** A session by its id; null when there is none, or when it cannot be read now. */
export async function readSession(id: string): Promise<Session | null> {
  try {
    return (await (await call('GET', at(id))).json()) as Session;
  } catch {
    return null;
  }
}

/** Deletes a session. The answer is a sentence if its workspace has something that is nowhere else, and stays. */
export async function deleteSession(id: string): Promise<string | undefined> {
  const answer = await call('DELETE', at(id));
  return answer.status === 200 ? ((await answer.json()) as { kept: string }).kept : undefined;
}

export const changeSession = async (id: string, change: { title?: string; mode?: string; model?: string; archived?: boolean }) => {
  await call('PATCH', at(id), change);
};

export const createSession = async (session: { id: string; agent?: string; mode?: string; model?: string }) => {
  await call('POST', '/api/sessions', session);
};

/** What people look for among the sessions. The words stand in the title or in the text. */
export interface Filter {
  q: string;
  agent: string;
  state: '' | 'idle' | 'running' | 'paused' | 'failed';
  archived: boolean;
}

export const isFiltered = (f: Filter) => !!(f.q.trim() || f.agent || f.state || f.archived);

export async function findSessions({ q, agent, state, archived }: Filter, limit: number): Promise<{ sessions: Session[]; more: boolean }> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(q.trim() && { q: q.trim() }),
    ...(agent && { agent }),
    ...(state && { state }),
    ...(archived && { archived: 'true' }),
  });
  const res = await call('GET', `/api/sessions?${query}`);
  return { sessions: ((await res.json()) as { sessions: Session[] }).sessions, more: res.headers.has('link') };
}

export type Form = 'markdown' | 'json' | 'trace' | 'atif' | 'otlp';

export interface Exported {
  form: Form;
  /** Of atif and otlp: only names, numbers and times. */
  bare?: boolean;
  /** Of atif and otlp: only the turn of this message. */
  message?: string;
}

/** Reads the conversation as a file. A plain link cannot: a request needs the page's secret. */
export async function exported(id: string, { form, bare, message }: Exported): Promise<{ content: Blob; name: string }> {
  const query = new URLSearchParams({ format: form, ...(bare && { content: 'none' }), ...(message && { message }) });
  const res = await call('GET', form === 'trace' ? `${at(id)}/trace` : `${at(id)}/export?${query}`);
  const says = res.headers.get('content-disposition') ?? '',
    coded = /filename\*=utf-8''([^;]+)/i.exec(says)?.[1];
  return { content: await res.blob(), name: coded ? decodeURIComponent(coded) : (/filename="?([^";]+)/.exec(says)?.[1] ?? `${id}.jsonl`) };
}

/** What graders found in the turns of a session; nothing while that cannot be read. */
export async function listScores(id: string): Promise<Score[]> {
  try {
    return ((await (await call('GET', `${at(id)}/scores`)).json()) as { scores: Score[] }).scores;
  } catch {
    return [];
  }
}

export async function readControls(id: string): Promise<Controls | null> {
  try {
    return (await (await call('GET', `${at(id)}/controls`)).json()) as Controls;
  } catch {
    return null;
  }
}

export async function listAgents(): Promise<Agent[]> {
  try {
    return ((await (await call('GET', '/api/agents')).json()) as { agents: Agent[] }).agents;
  } catch {
    return [];
  }
}

export type Members = NonNullable<Session['members']>;

interface Membership {
  members: Members;
  /** The person, by the name that the gateway has for them. */
  principal: string;
  /** Nobody has come with this name yet. */
  unknown?: boolean;
}

/** Gives a person a role in the session, or removes it; the members that there are then. */
export async function changeMember(id: string, who: string, role: string | null): Promise<Membership> {
  const path = `${at(id)}/members/${encodeURIComponent(who)}`;
  const res = role === null ? await call('DELETE', path) : await call('PUT', path, { role });
  return (await res.json()) as Membership;
}

export interface SignIn {
  id: string;
  user: string;
  name: string;
  by: string;
  created_at: string;
  expires_at: string;
}

/** How an exporter is doing, for an admin. */
export interface Exporter {
  name: string;
  receiver: string;
  turns: number;
  waiting: number;
  dropped: number;
  skipped: number;
  failing_since?: string;
  last_failure?: string;
}

export const listExporters = async () => ((await (await call('GET', '/api/exporters')).json()) as { exporters: Exporter[] }).exporters;

export const listSignIns = async () => ((await (await call('GET', '/auth/sign-ins')).json()) as { sign_ins: SignIn[] }).sign_ins;

export const endSignIn = async (id: string) => {
  await call('DELETE', `/auth/sign-ins/${encodeURIComponent(id)}`);
};
