import { Value } from './value';

/** The sentence in a data part, if it holds one. */
export const sentence = (data: unknown): string | null => {
  if (typeof data === 'string') return data;
  const d = (data ?? {}) as Record<string, unknown>;
  return [d.message, d.text, d.error, d.errorText, d.sentence].find((s): s is string => typeof s === 'string') ?? null;
};

interface Tokens { scope?: string; input_tokens?: number; output_tokens?: number; cost_usd?: number }

/** What a step, a turn or a session cost, in one line; null when the numbers are missing. */
function cost(data: unknown): string | null {
  const { scope, input_tokens: read, output_tokens: wrote, cost_usd: usd } = (data ?? {}) as Tokens;
  const said = [read && `${read.toLocaleString()} tokens in`, wrote && `${wrote.toLocaleString()} out`, usd && `$${usd.toFixed(4)}`].filter(Boolean);
  return said.length ? (scope === 'session' ? 'session: ' : '') + said.join(' · ') : null;
}

/** Whether a part counts a step of a message that also counts the whole turn. */
export function isCounted(part: { type: string }, all: { type: string }[]): boolean {
  const scope = (p: { type: string }) => p.type === 'data-usage' && (p as unknown as { data?: Tokens }).data?.scope;
  return scope(part) === 'step' && all.some(p => scope(p) === 'turn' && cost((p as unknown as { data?: Tokens }).data));
}

interface Entry { content?: string; status?: string }
const TICK: Record<string, string> = { completed: '✓', in_progress: '▸', pending: '·' };

/** What is no text and no tool: errors and notices as sentences, plans as lists, the rest folded. */
export function DataPart({ name, data }: { name: string; data: unknown }) {
  const said = sentence(data);
  if (name === 'error') return <p className="banner small">{said ?? JSON.stringify(data)}</p>;
  if (name === 'notice' && said) return <p className="notice">{said}</p>;
  if (name === 'agent-status') return null;
  if (name === 'usage' && cost(data)) return <p className="usage">{cost(data)}</p>;
  const entries = (data as { entries?: Entry[] } | null)?.entries;
  if (name === 'plan' && Array.isArray(entries)) {
    return <ul className="plan">{entries.map((e, i) => <li key={i} className={e.status}><span aria-hidden="true">{TICK[e.status ?? ''] ?? '·'}</span> {e.content}</li>)}</ul>;
  }
  if (name === 'subagent') {
    const { text, status } = (data ?? {}) as { text?: string; status?: string };
    return <details className="data"><summary>sub-agent{status ? `, ${status}` : ''}</summary><div className="text">{text}</div></details>;
  }
  return <details className="data"><summary>{name.replaceAll('-', ' ')}{said ? `: ${said.slice(0, 80)}` : ''}</summary><Value label="" value={data} /></details>;
}
