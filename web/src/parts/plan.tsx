import { useState } from 'react';
import type { UIMessage } from 'ai';
import { ChevronRight, Circle, CircleCheck, CircleDot } from 'lucide-react';
import { kindOf } from './tool/kind';
import { Visible } from './visible';

export interface PlanEntry {
  content: string;
  status: 'pending' | 'in_progress' | 'completed';
}

const STATUS: Record<string, PlanEntry['status']> = {
  completed: 'completed',
  done: 'completed',
  in_progress: 'in_progress',
  inProgress: 'in_progress',
  doing: 'in_progress',
};

/** The steps of a plan, in the forms that agents give them; null if the value is no plan. */
export function entriesOf(value: unknown): PlanEntry[] | null {
  const v = (value ?? {}) as Record<string, unknown>;
  const list = [v.entries, v.todos, v.plan, v.items, v.steps].find(Array.isArray) as Record<string, unknown>[] | undefined;
  if (!list?.length) return null;
  const entries = list
    .map(e => ({
      content: [e?.content, e?.step, e?.text, e?.title, e?.description, e?.task].find((s): s is string => typeof s === 'string') ?? '',
      status: STATUS[String(e?.status)] ?? (e?.completed === true ? ('completed' as const) : ('pending' as const)),
    }))
    .filter(e => e.content);
  return entries.length ? entries : null;
}

const ICON = { completed: CircleCheck, in_progress: CircleDot, pending: Circle };
const WORD = { completed: 'done: ', in_progress: 'now: ', pending: '' };

export function PlanList({ entries }: { entries: PlanEntry[] }) {
  return (
    <ul className="plan" tabIndex={entries.length > 7 ? 0 : undefined}>
      {entries.map((e, i) => {
        const Icon = ICON[e.status];
        return (
          <li key={i} className={e.status} aria-current={e.status === 'in_progress' ? 'step' : undefined}>
            <Icon size={15} aria-hidden="true" />
            <span>
              <span className="unseen">{WORD[e.status]}</span>
              <Visible text={e.content} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The plan of a message as it stands: the last that the agent has told. */
export function planOf(parts: UIMessage['parts']): PlanEntry[] | null {
  for (const part of [...parts].reverse()) {
    const found =
      part.type === 'data-plan'
        ? entriesOf((part as { data: unknown }).data)
        : 'input' in part && kindOf(part) === 'plan'
          ? entriesOf(part.input)
          : null;
    if (found) return found;
  }
  return null;
}

const summary = (entries: PlanEntry[]) => `${entries.filter(e => e.status === 'completed').length} of ${entries.length} done`;

/** The plan above the composer while its turn runs: the step of now, all of them on a click. */
export function PinnedPlan({ entries }: { entries: PlanEntry[] }) {
  const [open, setOpen] = useState(false);
  const now = entries.find(e => e.status === 'in_progress') ?? entries.find(e => e.status === 'pending');
  return (
    <section className="pinned" aria-label="Plan">
      <details open={open} onToggle={e => setOpen(e.currentTarget.open)}>
        <summary>
          <ChevronRight className="chevron" size={14} aria-hidden="true" />
          <span className="pinned-now">
            <Visible text={now?.content ?? 'Plan'} />
          </span>
          <span className="pinned-count">{summary(entries)}</span>
        </summary>
        <PlanList entries={entries} />
      </details>
    </section>
  );
}

/** The plan in its message, after the turn. */
export function Plan({ entries }: { entries: PlanEntry[] }) {
  return (
    <details className="folded">
      <summary>
        <ChevronRight className="chevron" size={14} aria-hidden="true" />
        Plan, {summary(entries)}
      </summary>
      <PlanList entries={entries} />
    </details>
  );
}
