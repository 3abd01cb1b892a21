// The usage of a session, for the header. The conversation keeps it up to date.
import { lazy, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { UIMessage } from 'ai';
import { Button } from '../ui/button';
import { Late } from '../ui/late';
import { dollars, sessionUsageOf, short, type SessionCounts } from '../parts/usage';

const Popover = lazy(() => import('../ui/popover'));

const known = new Map<string, SessionCounts>(),
  readers = new Set<() => void>();

/** Keeps the store up to date with a conversation. earlier: there are messages before these. */
export function useMeter(session: string, messages: UIMessage[], earlier: boolean) {
  const counts = useMemo(() => JSON.stringify(sessionUsageOf(messages, earlier)), [messages, earlier]); // words do not change it
  useEffect(() => {
    const now = JSON.parse(counts) as SessionCounts | null;
    if (now) known.set(session, now);
    for (const changed of readers) changed();
  }, [session, counts]);
}

const subscribe = (changed: () => void) => {
  readers.add(changed);
  return () => {
    readers.delete(changed);
  };
};

/** How full the agent's context is, and what the session has cost; nothing while neither is known. */
export function SessionUsage({ id }: { id: string }) {
  const counts = useSyncExternalStore(subscribe, () => known.get(id));
  if (!counts) return null;
  const { context_used: used, context_size: size, cost_usd: cost, input_tokens: input, output_tokens: output, model, partial } = counts;
  const share = used !== undefined && size ? Math.min(1, used / size) : null;
  const total = (input ?? 0) + (output ?? 0);
  const rows: [string, string][] = [];
  if (share !== null) rows.push(['Context', `${short(used!)} of ${short(size!)} tokens, ${Math.round(share * 100)} %`]);
  if (input !== undefined) rows.push(['Tokens in', input.toLocaleString('en')]);
  if (output !== undefined) rows.push(['Tokens out', output.toLocaleString('en')]);
  if (cost !== undefined) rows.push(['Cost', dollars(cost)]);
  if (model) rows.push(['Model', model]);
  if (!rows.length) return null;
  const full = share === null ? '' : `: ${Math.round(share * 100)} % of the context`;
  const button = (
    <Button look="quiet" small className="meter">
      <span className="unseen">Usage of the session{full} </span>
      {share !== null && <Ring share={share} />}
      <span>{cost !== undefined ? dollars(cost) : share !== null ? `${Math.round(share * 100)} %` : `${short(total)} tokens`}</span>
    </Button>
  );
  return (
    <Late kind="dialog" trigger={button}>
      {opened => (
        <Popover title="Usage of the session" {...opened}>
          <dl className="meter-rows">
            {rows.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {partial && <p className="meter-note">Of the messages that this page has read.</p>}
        </Popover>
      )}
    </Late>
  );
}

const AROUND = 2 * Math.PI * 6;

function Ring({ share }: { share: number }) {
  return (
    <svg className={share > 0.85 ? 'ring full' : 'ring'} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="6" className="share" strokeDasharray={`${share * AROUND} ${AROUND}`} transform="rotate(-90 8 8)" />
    </svg>
  );
}
