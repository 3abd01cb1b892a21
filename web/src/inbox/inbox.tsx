import { useEffect, useRef } from 'react';
import { Inbox as Picture } from 'lucide-react';
import type { Session } from '../api/api';
import type { Answer } from '@tributary/chat';
import type { Request } from '../api/requests';
import { NotifyButton } from '../notify/button';
import { isFree } from '../palette/keys';
import { useWaiting } from './answered';
import { Card } from './card';
import './inbox.css';

/** All that waits for a person, of all sessions, the oldest first. */
export default function Inbox({ sessions }: { sessions: Session[] | null }) {
  const { items, problem, give, dismiss } = useWaiting(sessions);
  const box = useRef<HTMLDivElement>(null),
    next = useRef<string | null>(null);
  const cards = () => [...(box.current?.querySelectorAll<HTMLElement>('[data-request]') ?? [])];
  useEffect(() => {
    // after an answer the next one has the keyboard
    if (next.current === null) return;
    box.current?.querySelector<HTMLElement>(`[data-request="${CSS.escape(next.current)}"]`)?.focus();
    next.current = null;
  });
  const answer = async (request: Request, a: Answer) => {
    const open = items?.filter(i => !i.decided).map(i => i.request.id) ?? [];
    const after = open[open.indexOf(request.id) + 1] ?? open.find(id => id !== request.id) ?? request.id;
    await give(request, a);
    next.current = after;
  };
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      const by = { j: 1, k: -1 }[e.key];
      if (!by || !isFree(e)) return;
      const all = cards(),
        at = all.findIndex(c => c.contains(document.activeElement));
      all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
      e.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  const open = items?.filter(i => !i.decided).length ?? 0;
  return (
    <div className="scroll" ref={box} tabIndex={0} role="region" aria-label="What waits for you">
      <div className="page inbox">
        <div className="inbox-top">
          <p role="status">
            {items === null
              ? ''
              : open === 0
                ? ''
                : open === 1
                  ? 'One request waits for an answer.'
                  : `${open} requests wait for an answer.`}
          </p>
          <NotifyButton />
        </div>
        {problem && (
          <div className="banner" role="alert">
            {problem}
          </div>
        )}
        {items?.length === 0 && (
          <div className="hint">
            <Picture size={28} aria-hidden="true" />
            <p className="hint-title">Nothing waits for you.</p>
            <p>Permissions and questions of all your sessions come here.</p>
          </div>
        )}
        {items?.map(item => (
          <Card key={item.request.id} item={item} give={answer} onDismiss={() => dismiss(item.request.id)} />
        ))}
      </div>
    </div>
  );
}
