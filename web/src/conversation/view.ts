// This file chooses the parts of a message that the page draws, and their places. Some parts stand in the card of a call. Others are not drawn,
// because another part shows their content.
import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import type { FileChangeData } from '../parts/data';
import type { Source } from '../parts/file';
import type { SubagentData, Team } from '../parts/subagent';
import { kindOf } from '../parts/tool/kind';
import { entriesOf, planOf, type PlanEntry } from '../parts/plan';

export type Part = UIMessage['parts'][number];
export type Call = DynamicToolUIPart | ToolUIPart;

export type Item =
  | { type: 'part'; part: Part; at: number }
  | { type: 'call'; part: Call; at: number; diffs: string[]; subagent?: Team }
  | { type: 'subagent'; team: Team; at: number }
  | { type: 'request'; part: Call; at: number }
  | { type: 'question'; part: ToolUIPart; at: number }
  | { type: 'plan'; entries: PlanEntry[]; at: number }
  | { type: 'sources'; sources: Source[]; at: number };

export const isCall = (part: Part): part is Call => part.type === 'dynamic-tool' || part.type.startsWith('tool-');

const dataOf = (part: Part) => (part as { data?: unknown }).data ?? {};

/** Whether a call only carries the request for another one, whose input it has. */
const carries = (part: Call) => part.approval !== undefined && part.toolCallId === `permission-${part.approval.id}`;

/** Whether a part tells the plan: only the last state of it is shown, once. */
const tellsPlan = (part: Part) =>
  (part.type === 'data-plan' && entriesOf(dataOf(part)) !== null) ||
  (isCall(part) && kindOf(part) === 'plan' && part.state !== 'output-error' && !part.approval && entriesOf(part.input) !== null);

const teamOf = (part: Part): Team => {
  const data = dataOf(part) as SubagentData;
  return { id: (part as { id?: string }).id ?? data.tool_call_id ?? '', data, inside: [] };
};

/** The sub-agents of a message by their ids, each with those that work for it. One that a call has started has the call's id. placed: those that work for another. */
function teamsOf(parts: Part[]): { teams: Map<string, Team>; placed: Set<Team> } {
  const teams = new Map(
    parts
      .filter(part => part.type === 'data-subagent')
      .map(teamOf)
      .filter(team => team.id)
      .map(team => [team.id, team]),
  );
  const parentOf = (team: Team) => teams.get(team.data.parent_id ?? ''),
    placed = new Set<Team>();
  for (const team of teams.values()) {
    let above = parentOf(team);
    for (let steps = 0; above && above !== team && steps < teams.size; steps++) above = parentOf(above);
    const parent = above ? undefined : parentOf(team); // else it would work for itself
    if (!parent) continue;
    parent.inside.push(team);
    placed.add(team);
  }
  return { teams, placed };
}

/** The items of a message, in its order. open: its turn is not over, and its plan stands above the composer. */
export function itemsOf(parts: Part[], open: boolean): Item[] {
  const calls = new Map(parts.filter(isCall).map(p => [p.toolCallId, p]));
  const diffs = new Map<string, string[]>(),
    { teams: subagents, placed } = teamsOf(parts);
  const edits = (id: string | undefined) => {
    const call = id === undefined ? undefined : calls.get(id);
    return call !== undefined && kindOf(call) === 'edit';
  };
  for (const part of parts) {
    if (part.type === 'data-file-change') {
      const { tool_call_id: id, diff } = dataOf(part) as FileChangeData;
      if (diff && edits(id)) diffs.set(id!, [...(diffs.get(id!) ?? []), diff]);
    }
  }
  const items: Item[] = [],
    plan = open ? null : planOf(parts);
  parts.forEach((part, at) => {
    if (tellsPlan(part)) {
      if (plan && !items.some(i => i.type === 'plan')) items.push({ type: 'plan', entries: plan, at });
      return;
    }
    if (isCall(part)) {
      if (part.type === 'tool-AskUser') items.push({ type: 'question', part: part as ToolUIPart, at });
      else if (carries(part)) items.push({ type: 'request', part, at });
      else items.push({ type: 'call', part, at, diffs: diffs.get(part.toolCallId) ?? [], subagent: subagents.get(part.toolCallId) });
      return;
    }
    if (part.type === 'source-url' || part.type === 'source-document') {
      const source = part.type === 'source-url' ? { url: part.url, title: part.title || part.url } : { title: part.title };
      const last = items.at(-1);
      if (last?.type === 'sources') last.sources.push(source);
      else items.push({ type: 'sources', sources: [source], at });
      return;
    }
    if (part.type === 'data-file-change' && edits((dataOf(part) as FileChangeData).tool_call_id)) return;
    if (part.type === 'data-subagent') {
      const own = teamOf(part),
        team = subagents.get(own.id) ?? own;
      if (!calls.has(team.id) && !placed.has(team)) items.push({ type: 'subagent', team, at });
      return;
    }
    if (part.type === 'step-start' || part.type === 'data-usage') return;
    items.push({ type: 'part', part, at });
  });
  return items;
}

/** The words of a message, as they were written. */
export const wordsOf = (message: UIMessage) => message.parts.flatMap(p => (p.type === 'text' ? [p.text] : [])).join('\n\n');
