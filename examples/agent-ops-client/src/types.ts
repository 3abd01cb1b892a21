// The shape of a chat. Both hooks return it, so a flag can swap them.

export type AgentStatus = 'idle' | 'queued' | 'thinking' | 'tool_calling' | 'streaming' | 'error';

export type Part =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; callId: string; toolName: string; status: 'pending' | 'running' | 'completed' | 'error'; args?: unknown; result?: unknown; error?: string }
  | { type: 'error'; message: string };

export interface Message { id: string; role: 'user' | 'assistant' | 'system'; parts: Part[] }

/** A request of the agent that waits for a person. Without actions any text is an answer. */
export interface Prompt { id: string; type: 'question' | 'approval'; title: string; body?: string; actions: { id: string; label: string }[] }

export interface ChatSession {
  messages: Message[];
  status: AgentStatus;
  prompts: Prompt[];
  error: string | null;
  send: (text: string) => void;
  abort: () => void;
  /** Answers a question by text, an approval by yes or no. */
  answer: (prompt: Prompt, value: string | boolean) => void;
  /** Tries the last message again; only where that is possible. */
  retry?: () => void;
}
