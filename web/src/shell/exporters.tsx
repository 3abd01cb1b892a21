import { useCallback, useEffect, useState } from 'react';
import { listExporters, type Exporter } from '../api/api';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';

const count = (n: number, what: string) => `${n.toLocaleString()} ${what}${n === 1 ? '' : 's'}`;

/** What an exporter has not sent, and what the receiver has not taken. */
function lacks({ dropped, skipped }: Exporter): string {
  const all = [dropped > 0 && `${count(dropped, 'span')} refused`, skipped > 0 && `${count(skipped, 'damaged turn')} left out`].filter(
    Boolean,
  );
  return all.length > 0 ? ` (${all.join(', ')})` : '';
}

/** Which turns wait for each exporter, and why. */
export default function Exporters({ onClose }: { onClose: () => void }) {
  const [all, setAll] = useState<Exporter[] | null>(null);
  const [problem, setProblem] = useState('');
  const refresh = useCallback(() => {
    listExporters().then(
      now => {
        setAll(now);
        setProblem('');
      },
      (e: Error) => setProblem(e.message),
    );
  }, []);
  useEffect(refresh, [refresh]);
  return (
    <Dialog
      title="Exporters"
      about="Turns that have ended go to these receivers. What waits is sent again until it is taken."
      onClose={onClose}
    >
      {all?.map(e => (
        <section key={e.name} aria-label={e.name}>
          <p>
            <b>{e.name}</b> <span className="note">{e.receiver}</span>
          </p>
          <p>
            {count(e.turns, 'turn')} sent since the start of the gateway{lacks(e)},{' '}
            {e.waiting === 0 ? 'none waits' : `${count(e.waiting, 'turn')} waiting`}.
          </p>
          {e.failing_since && e.last_failure && <p className="bad">{e.last_failure}</p>}
        </section>
      ))}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <Button onClick={refresh}>Refresh</Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
