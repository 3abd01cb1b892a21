import { Check, X } from 'lucide-react';
import { visibleText, type Answer } from '@tributary/chat';
import { Visible } from '../parts/visible';
import type { Request } from '../api/requests';
import { Ask } from '../ask/ask';
import { ago } from '../ask/words';
import { hashOf } from '../shell/route';
import { IconButton } from '../ui/button';
import type { Item } from './answered';

interface Props {
  item: Item;
  give: (request: Request, answer: Answer) => Promise<void>;
  onDismiss?: () => void;
}

/** A request with the session that it comes from; when it is decided, a sentence in its place. */
export function Card({ item: { request, decided }, give, onDismiss }: Props) {
  const { session, session_title: title, agent, at, id } = request;
  return (
    <article
      className={decided ? 'waiting decided-card' : 'waiting'}
      data-request={id}
      aria-label={visibleText(request.title || request.text || '')}
      tabIndex={-1}
    >
      <header>
        {request.may_open === false ? (
          <span className="from">
            <Visible text={title || 'Untitled'} />
          </span>
        ) : (
          <a className="from" href={hashOf({ at: 'session', id: session, view: null })}>
            <Visible text={title || 'Untitled'} />
          </a>
        )}
        <span className="note">
          <Visible text={agent} /> · <a href={hashOf({ at: 'request', id: session, request: id })}>{ago(at)}</a>
        </span>
      </header>
      {decided ? (
        <p className="outcome-line" role="status">
          <Check size={15} aria-hidden="true" />
          <span>{decided}</span>
          {onDismiss && (
            <IconButton small label="Dismiss" onClick={onDismiss}>
              <X />
            </IconButton>
          )}
        </p>
      ) : (
        <Ask request={request} give={answer => give(request, answer)} />
      )}
    </article>
  );
}
