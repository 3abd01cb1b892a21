// Frames of a session agent, folded into the state of a session. Pure: the socket is elsewhere.
import type { AgentStatus, Message, Part, Prompt } from './types';

export interface State {
  messages: Message[];
  status: AgentStatus;
  prompts: Prompt[];
  error: string | null;
  /** Events beside the chat. */
  title: string;
  users: string[];
  branch: string | null;
  toasts: string[];
  /** Grows with each frame after which another reader of the session should look again. */
  news: number;
}

export const EMPTY: State = { messages: [], status: 'idle', prompts: [], error: null, title: '', users: [], branch: null, toasts: [], news: 0 };

interface Sent { id: string; role?: Message['role']; content?: string; parts?: (Part | { type: string })[] }

export interface Frame {
  type: string;
  data?: Sent & { runnerBusy?: boolean; promptsQueued?: number; promptQueued?: boolean; connectedUsers?: User[]; branch?: string; message?: string };
  session?: { title?: string };
  prompt?: Prompt;
  promptId?: string;
  messageId?: string;
  messageIds?: string[];
  connectedUsers?: User[];
  content?: string;
  status?: AgentStatus;
  title?: string;
  error?: string;
  message?: string;
}

type User = string | { id: string; name?: string };

const KNOWN = new Set(['text', 'tool-call', 'error']);

/** A message in the shape of this app. A message of a user has its text beside the parts. */
function shaped({ id, role = 'assistant', content, parts = [] }: Sent): Message {
  const known = parts.filter((p): p is Part => KNOWN.has(p.type));
  return { id, role, parts: known.length || !content ? known : [{ type: 'text', text: content }] };
}

const placed = (all: Message[], m: Message) => (all.some(o => o.id === m.id) ? all.map(o => (o.id === m.id ? m : o)) : [...all, m]);

function extended(m: Message, text: string): Message {
  const last = m.parts.at(-1);
  return { ...m, parts: last?.type === 'text' ? [...m.parts.slice(0, -1), { ...last, text: last.text + text }] : [...m.parts, { type: 'text', text }] };
}

const names = (users: User[] = []) => users.map(u => (typeof u === 'string' ? u : u.name ?? u.id));

/** The history, as GET …/messages?after= has it, below which newer messages stay. */
export const withHistory = (s: State, history: Sent[]): State => ({
  ...s, messages: s.messages.reduce(placed, history.map(shaped)),
});

export function fold(s: State, f: Frame): State {
  const { data } = f, news = s.news + 1;
  switch (f.type) {
    case 'init':
      return { ...s, title: f.session?.title ?? s.title, users: names(data?.connectedUsers), prompts: [], status: data?.runnerBusy ? 'thinking' : data?.promptsQueued ? 'queued' : 'idle', news };
    case 'message':
      return data ? { ...s, messages: placed(s.messages, shaped(data)), error: data.role === 'user' ? null : s.error, news } : s;
    case 'message.updated':
      return data ? { ...s, messages: placed(s.messages, { ...shaped(data), role: s.messages.find(m => m.id === data.id)?.role ?? 'assistant' }), news } : s;
    case 'chunk':
      return { ...s, messages: s.messages.map(m => (m.id === f.messageId ? extended(m, f.content ?? '') : m)) };
    case 'messages.removed':
      return { ...s, messages: s.messages.filter(m => !f.messageIds?.includes(m.id)), news };
    case 'agentStatus':
      return { ...s, status: f.status ?? s.status };
    case 'status':
      if (data?.runnerBusy === false) return { ...s, status: 'idle', news };
      return data?.promptQueued && s.status === 'idle' ? { ...s, status: 'queued' } : s;
    case 'interactive_prompt':
      return f.prompt ? { ...s, prompts: [...s.prompts.filter(p => p.id !== f.prompt!.id), f.prompt], news } : s;
    case 'interactive_prompt_resolved':
    case 'interactive_prompt_expired':
      return { ...s, prompts: s.prompts.filter(p => p.id !== f.promptId), news };
    case 'error':
      return { ...s, error: f.error ?? f.message ?? data?.message ?? 'Something went wrong.', news };
    case 'title':
      return { ...s, title: f.title ?? s.title };
    case 'user.joined':
    case 'user.left':
      return { ...s, users: names(f.connectedUsers) };
    case 'git-state':
      return { ...s, branch: data?.branch ?? s.branch };
    case 'toast':
      return { ...s, toasts: [...s.toasts, f.title ?? ''] };
  }
  return s;
}
