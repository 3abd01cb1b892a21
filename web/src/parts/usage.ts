// The cost of a step, a turn or a session, in tokens and money.
import type { UIMessage } from 'ai';

export interface Counts {
  scope?: string;
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  reasoning_tokens?: number;
  cost_usd?: number;
  context_used?: number;
  context_size?: number;
  model?: string;
}

const counted = (c: Counts) => c.input_tokens !== undefined || c.output_tokens !== undefined || c.cost_usd !== undefined;

const read = new WeakMap<UIMessage, Counts[]>();

function all(message: UIMessage): Counts[] {
  let found = read.get(message);
  if (!found) {
    found = message.parts.flatMap(p => (p.type === 'data-usage' ? [(p as { data?: Counts }).data ?? {}] : []));
    read.set(message, found);
  }
  return found;
}

/** What the message's turn has cost; where the agent counts no turn, its last step. */
export function usageOf(message: UIMessage): Counts | null {
  const found = all(message).filter(counted);
  return found.find(c => c.scope === 'turn') ?? found.find(c => c.scope === 'step') ?? null;
}

export interface SessionCounts extends Counts {
  /** Whether the sum may lack messages that the page has not read. */
  partial: boolean;
}

/** What the session has cost: as the agent says it, or else the sum of the turns that are on the page. earlier: there are others before them. */
export function sessionUsageOf(messages: UIMessage[], earlier: boolean): SessionCounts | null {
  const everything = messages.flatMap(all);
  const context = everything.findLast(c => c.context_used !== undefined),
    said = everything.findLast(c => c.scope === 'session' && counted(c));
  const model = everything.findLast(c => c.model)?.model;
  const turns = messages.map(usageOf).filter(c => c !== null);
  if (!said && !turns.length && !context) return null;
  const sum = (key: 'input_tokens' | 'output_tokens' | 'cost_usd') =>
    turns.some(t => t[key] !== undefined) ? turns.reduce((n, t) => n + (t[key] ?? 0), 0) : undefined;
  const counts = said ?? { input_tokens: sum('input_tokens'), output_tokens: sum('output_tokens'), cost_usd: sum('cost_usd') };
  return { ...counts, context_used: context?.context_used, context_size: context?.context_size, model, partial: !said && earlier };
}

/** 1540 as "1.5k". */
export const short = (n: number) =>
  n < 1000
    ? String(n)
    : n < 999_500
      ? `${(n / 1000).toFixed(n < 99_500 ? 1 : 0).replace('.0', '')}k`
      : `${(n / 1_000_000).toFixed(1).replace('.0', '')}M`;

/** Money in dollars: cents where there are some. */
export const dollars = (usd: number) => `$${usd >= 0.1 ? usd.toFixed(2) : usd.toFixed(4)}`;

/** Tokens and cost in one line; empty if nothing is known. */
export function line({ input_tokens: input, output_tokens: output, cost_usd: cost }: Counts): string {
  return [
    input !== undefined && input > 0 && `${input.toLocaleString('en')} tokens in`,
    output !== undefined && output > 0 && `${output.toLocaleString('en')} out`,
    cost !== undefined && dollars(cost),
  ]
    .filter(Boolean)
    .join(' · ');
}
