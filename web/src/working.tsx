import { useEffect, useState } from 'react';

/** The line while the agent works: what it says it does, and for how long. */
export function Working({ detail, waiting }: { detail: string | null; waiting: boolean }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = Date.now();
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - began) / 1000)), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="working" role="status">
      <span className="pulse" aria-hidden="true" />
      {detail ?? (waiting ? 'Waiting for the agent' : 'Working')}
      {seconds > 2 && <span className="seconds" aria-hidden="true">{seconds} s</span>}
    </p>
  );
}
