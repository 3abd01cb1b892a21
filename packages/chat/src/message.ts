// The message of a chat with Tributary, with all parts that are Tributary's own. docs/reference/parts.md has what each shows.
import { convertFileListToFileUIParts, type FileUIPart, type UIMessage } from 'ai';
import type { Choice, Command, Outcome, QuestionChoice, RequestOption } from './events.js';

export interface TributaryMetadata {
  /** How the turn of this answer ended, if it failed or was stopped. */
  outcome?: Exclude<Outcome, 'completed'>;
  /** Who took part in the turn, where several people do. */
  participants?: string[];
  [key: string]: unknown;
}

export interface Usage {
  scope: 'step' | 'turn' | 'session';
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
  cost_usd?: number;
  context_used?: number;
  context_size?: number;
  model?: string;
}

/** The data parts that are Tributary's own. An agent may send others. */
export type TributaryDataParts = {
  /** What the agent does right now. It comes by onData only, and is in no message. */
  'agent-status': { status: 'idle' | 'thinking' | 'streaming' | 'tool_calling' | 'error'; detail?: string };
  plan: { entries: { content: string; status: 'pending' | 'in_progress' | 'completed' }[] };
  'file-change': { path: string; change: 'created' | 'modified' | 'deleted' | 'moved'; tool_call_id?: string; diff?: string };
  subagent: { tool_call_id?: string; name?: string; text: string; status: 'running' | 'completed' | 'failed' | 'denied' | 'canceled' };
  usage: Usage;
  mode: { mode: string };
  modes: { current?: string; modes: Choice[] };
  models: { current?: string; models: Choice[] };
  commands: { commands: Command[] };
  steer: { text: string; by?: string };
  notice: { message: string; code?: string };
  error: { message: string; reason?: string };
};

export interface AskUserInput {
  question_id: string;
  header?: string;
  question: string;
  choices?: QuestionChoice[];
  multiple?: boolean;
}
export interface AskPermissionInput {
  request_id: string;
  title: string;
  options: RequestOption[];
  tool_call_id?: string;
  tool?: string;
  input?: unknown;
  input_text?: string;
}

/** The two tools of the gateway's own. All tools of the agent are parts of the type dynamic-tool. */
export type TributaryTools = {
  AskUser: { input: AskUserInput; output: string | string[] };
  /** Asked of releases 5 of the AI SDK, which have no approvals. */
  AskPermission: { input: AskPermissionInput; output: unknown };
};

export type TributaryUIMessage = UIMessage<TributaryMetadata, TributaryDataParts, TributaryTools>;

/** The text of a message that a person wrote. */
export const textOf = (message: UIMessage): string => message.parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The parts of a list of files, which a browser empties when the app clears the field; undefined for all else that a Chat takes. */
export function filesOf(files: unknown): Promise<FileUIPart[]> | undefined {
  if (typeof FileList === 'undefined' || !(files instanceof FileList)) return undefined;
  const parts = convertFileListToFileUIParts(files);
  parts.catch(() => {
    /* a file that cannot be read fails where the parts are awaited */
  });
  return parts;
}
