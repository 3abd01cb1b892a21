import { useEffect, useState } from 'react';
import { permission, type Permission } from '../api';
import type { Answers } from '../answers';

/** Buttons for an open request: the agent's own options where the trace tells them, else Allow and Deny. */
export function Approval({ session, request, permit }: { session: string; request: string; permit: Answers['permit'] }) {
  const [asked, setAsked] = useState<Permission | null>(null);
  const [sent, setSent] = useState(false);
  useEffect(() => {
    let here = true;
    void permission(session, request).then(p => { if (here) setAsked(p); });
    return () => { here = false; };
  }, [session, request]);
  const answer = async (a: Parameters<Answers['permit']>[1]) => {
    setSent(true);
    try { await permit(request, a); } finally { setSent(false); }
  };
  const options = asked?.options.length ? asked.options : null;
  return (
    <div className="ask" role="group" aria-label="Permission">
      <p>{asked?.title ? `May the agent do this? ${asked.title}` : 'May the agent do this?'}</p>
      <div className="buttons">
        {options
          ? options.map(o => <button key={o.id} className={o.kind === 'allow_once' ? 'yes' : 'no'} disabled={sent} onClick={() => void answer({ option: o.id })}>{o.name}</button>)
          : <>
              <button className="yes" disabled={sent} onClick={() => void answer({ approved: true })}>Allow</button>
              <button className="no" disabled={sent} onClick={() => void answer({ approved: false })}>Deny</button>
            </>}
      </div>
    </div>
  );
}
