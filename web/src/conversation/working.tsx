import { spoken, useSeconds } from '../parts/clock';

/** The line while the agent works: what it says it does, and for how long. id names the turn within the page. */
export function Working({ id, detail, waiting }: { id: string; detail: string | null; waiting: boolean }) {
  const seconds = useSeconds(`turn ${id}`, true) ?? 0;
  return (
    <p className="working" role="status">
      <span className="pulse" aria-hidden="true" />
      {detail ?? (waiting ? 'Waiting for the agent' : 'Working')}
      {seconds > 2 && (
        <span className="seconds" aria-hidden="true">
          {spoken(seconds)}
        </span>
      )}
    </p>
  );
}
