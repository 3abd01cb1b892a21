// The settings with which a new session begins.
import { createSession, type Named } from '../api/api';
import type { Choice } from '../ui/menu';

/** The choices of a person; empty: the default. */
export interface Start {
  agent: string;
  mode: string;
  model: string;
}

export const DEFAULTS: Start = { agent: '', mode: '', model: '' };

/** The values to choose from, and one for the agent's own default while nothing is chosen. */
export const choicesOf = (all: Named[], current: string | undefined, what: string): Choice[] => [
  ...(current ? [] : [{ value: '', name: what, note: 'the agent’s default' }]),
  ...all.map(n => ({ value: n.id, name: n.name ?? n.id, note: n.description })),
];

/** Makes the session before its first prompt, if more was chosen than the prompt can say. */
export async function begin(id: string, { agent, mode, model }: Start) {
  if (!mode && !model) return;
  await createSession({ id, ...(agent && { agent }), ...(mode && { mode }), ...(model && { model }) });
}
