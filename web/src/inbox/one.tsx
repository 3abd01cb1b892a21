import { useEffect, useRef, useState } from 'react';
import { ArrowLeft } from 'lucide-react';
import type { Session } from '../api/api';
import { outcomeOf } from '../api/requests';
import { useKeptFocus } from '../conversation/focus';
import { hashOf } from '../shell/route';
import { useWaiting } from './answered';
import { Card } from './card';
import './inbox.css';

/** One request on a page of its own: what a notification opens, for one thumb on a phone. */
export default function OneRequest({ session, id, sessions }: { session: string; id: string; sessions: Session[] | null }) {
  const { items, problem, give } = useWaiting(sessions, session);
  const box = useRef<HTMLDivElement>(null),
    keepFocus = useKeptFocus(box);
  const item = items?.find(i => i.request.id === id);
  const [outcome, setOutcome] = useState<string | null>(null);
  const missing = items !== null && !item;
  useEffect(() => {
    if (!missing) return;
    let here = true;
    void outcomeOf(session, id).then(words => {
      if (here) setOutcome(words);
    });
    return () => {
      here = false;
    };
  }, [missing, session, id]);
  return (
    <div className="scroll one" ref={box} tabIndex={0} role="region" aria-label="Request">
      <div className="page inbox">
        {problem && (
          <div className="banner" role="alert">
            {problem}
          </div>
        )}
        {item && (
          <Card
            item={item}
            give={(...answer) => {
              keepFocus();
              return give(...answer);
            }}
          />
        )}
        {missing && (
          <p className="hint" role="status">
            {outcome}
          </p>
        )}
        <nav className="onward" aria-label="From here">
          <a className="btn" href={hashOf({ at: 'inbox' })}>
            <ArrowLeft aria-hidden="true" />
            Inbox
          </a>
          {item?.request.may_open !== false && (
            <a className="btn" href={hashOf({ at: 'session', id: session, view: null })}>
              Open the session
            </a>
          )}
        </nav>
      </div>
    </div>
  );
}
