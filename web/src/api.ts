// The gateway's JSON side. The cookie goes along by itself, and signin.ts adds the page's secret.
import type { UIMessage } from 'ai';
import { ask } from './signin';

export type State = 'idle' | 'running' | 'paused';

export interface Session {
  id: string;
  agent: string;
  title: string;
  created_at: string;
  updated_at: string;
  state: State;
  turn: string | null;
  outcome?: 'completed' | 'failed' | 'canceled';
}

export interface Option { id: string; name: string; kind?: string }
export interface Permission { title: string; options: Option[] }

/** Major 7 may be told everything that 7 knows. With `compat: rfc` a stream holds nothing that this page could answer. */
export const PROFILE = 'client=7&compat=none';

export const at = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

/** What a refusal says: text/plain on chat routes, {"error"} elsewhere. */
async function sentence(res: Response): Promise<string> {
  const text = (await res.text()).trim();
  try {
    const body: unknown = JSON.parse(text);
    if (body && typeof body === 'object' && 'error' in body) return String(body.error);
  } catch { /* not JSON: the text is the sentence */ }
  return text && text.length < 400 && !text.startsWith('<') ? text : `The gateway answered ${res.status}.`;
}

const UNREACHED = 'The gateway cannot be reached.';

/** What an error says to a person. A lost connection is a TypeError, in the browser's own words. */
export const said = (e: Error) => (e instanceof TypeError ? UNREACHED : e.message);

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  let res: Response;
  try {
    res = await ask(path, body === undefined ? { method } : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  } catch {
    throw new Error(UNREACHED);
  }
  if (!res.ok) throw Object.assign(new Error(await sentence(res)), { status: res.status });
  return res;
}

export const statusOf = (e: unknown) => (e instanceof Error && 'status' in e ? Number(e.status) : 0);

export interface Problem { sentence: string; refused: boolean }

/** Why the list cannot be read now; refused: this browser is not signed in. */
export async function listProblem(): Promise<Problem> {
  try { await call('GET', '/api/sessions?limit=1'); } catch (e) {
    const refused = statusOf(e) === 401, { message } = e as Error;
    return { sentence: refused ? message : `${message} Trying again…`, refused };
  }
  return { sentence: 'The connection was lost. Trying again…', refused: false };
}

/** A session by its id; null when there is none, or when it cannot be read now. */
export async function readSession(id: string): Promise<Session | null> {
  try { return await (await call('GET', at(id))).json() as Session; } catch { return null; }
}

export const deleteSession = async (id: string) => { await call('DELETE', at(id)); };

/** Some turns of the history, and where the page before them ends; null when nothing is before them. missing: there is no such session. */
export interface Page { messages: UIMessage[]; before: string | null; missing?: boolean }

const NOTHING: Page = { messages: [], before: null, missing: true };

/** The newest page of the history, or the one that ends there; a session that does not exist yet has none. */
export async function history(id: string, before?: string): Promise<Page> {
  try {
    const res = await call('GET', `${at(id)}/messages?${PROFILE}${before === undefined ? '' : `&before=${encodeURIComponent(before)}`}`);
    const mark = /[?&]before=([^&>]*)[^>]*>; rel="prev"/.exec(res.headers.get('link') ?? '')?.[1];
    return { messages: await res.json() as UIMessage[], before: mark === undefined ? null : decodeURIComponent(mark) };
  } catch (e) {
    if (statusOf(e) === 404) return NOTHING;
    throw e;
  }
}

export const stopTurn = async (id: string) => { await call('POST', `/api/chat/${encodeURIComponent(id)}/stop`); };

export const answerPermission = async (id: string, request: string, answer: { option: string } | { approved: boolean }) => {
  await call('POST', `${at(id)}/permissions/${encodeURIComponent(request)}`, answer);
};

export const answerQuestion = async (id: string, question: string, value: string | string[]) => {
  await call('POST', `${at(id)}/questions/${encodeURIComponent(question)}`, { value });
};

/** An agent that sessions can have. available is missing until it is known; reason says why the agent cannot start. */
export interface Agent { name: string; default?: boolean; available?: boolean; reason?: string }

export async function listAgents(): Promise<Agent[]> {
  try { return (await (await call('GET', '/api/agents')).json() as { agents: Agent[] }).agents; } catch { return []; }
}

/** What the agent offers with a permission request, as the trace has it; null when it cannot be read. */
export async function permission(id: string, request: string): Promise<Permission | null> {
  try {
    const lines = (await (await call('GET', `${at(id)}/trace`)).text()).split('\n');
    for (const line of lines.reverse()) {
      if (!line.includes('permission_request') || !line.includes(JSON.stringify(request))) continue;
      const { type, payload } = JSON.parse(line) as { type: string; payload: Permission & { request_id: string } };
      if (type === 'permission_request' && payload.request_id === request) return { title: payload.title, options: payload.options ?? [] };
    }
  } catch { /* the two plain buttons remain */ }
  return null;
}
