import type { DynamicToolUIPart, ToolUIPart } from 'ai';

export type ToolPart = DynamicToolUIPart | ToolUIPart;

/** What the gateway says of a call: docs/reference/stream.md. */
export interface Facts {
  kind?: string;
  started_at?: string;
  /** The input as a text, if JSON.parse has lost some of it. */
  input_text?: string;
  duration_ms?: number;
  /** Who answered a request, and how. */
  decision?: { outcome: 'selected' | 'canceled' | 'expired'; by?: string; option?: string; edited?: boolean };
}

export function factsOf(part: ToolPart): Facts {
  const of = part as { callProviderMetadata?: { tributary?: Facts }; resultProviderMetadata?: { tributary?: Facts } };
  return { ...of.callProviderMetadata?.tributary, ...of.resultProviderMetadata?.tributary };
}

export type State = 'writing' | 'running' | 'asks' | 'waits' | 'done' | 'failed' | 'denied' | 'stopped';

/** The sentence of the gateway for a call that a stop has cut off. */
const CUT = /^Not finished: /;

/** How a call stands. waits: a person must answer first, so nothing runs. over: its turn has ended. past: its request can be answered no more. */
export function stateOf(part: ToolPart, waits: boolean, over: boolean, past: boolean): State {
  switch (part.state) {
    case 'input-streaming':
      return over ? 'stopped' : 'writing';
    case 'input-available':
    case 'approval-responded':
      return over ? 'stopped' : waits ? 'waits' : 'running';
    case 'approval-requested':
      return past ? 'stopped' : 'asks';
    case 'output-available':
      return part.preliminary && !over ? 'running' : 'done';
    case 'output-denied':
      return 'denied';
    case 'output-error':
      return CUT.test(part.errorText) ? 'stopped' : 'failed';
    default:
      return 'running';
  }
}

export const WORDS: Record<State, string> = {
  writing: 'preparing',
  running: 'running',
  asks: 'needs your permission',
  waits: 'waits',
  done: 'done',
  failed: 'failed',
  denied: 'not run',
  stopped: 'stopped',
};

export const nameOf = (part: ToolPart) => (part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length));
