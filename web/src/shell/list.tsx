import { lazy, memo, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { Ellipsis } from 'lucide-react';
import type { Session } from '../api/api';
import { useUnseen } from '../api/unseen';
import { ago } from '../ask/words';
import { IconButton } from '../ui/button';
import type { Acting } from './acting';
import { grouped, stateOf } from './groups';
import { TitleField } from './titlefield';
import { Late } from '../ui/late';

const SessionMenu = lazy(() => import('./sessionmenu'));

interface Props {
  list: Session[];
  current: string | null;
  acting: Acting;
  onOpen: (id: string) => void;
}

/** The sessions by day. One of them is in the order of Tab; arrows lead to the others. */
export function SessionList({ list, current, acting, onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<string | null>(null);
  const unseen = useUnseen();
  const stop = list.find(s => s.id === at)?.id ?? list.find(s => s.id === current)?.id ?? list[0]?.id;
  const focus = (id: string | undefined) => {
    if (id !== undefined) box.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(id)}"]`)?.focus();
  };
  const keys = (e: KeyboardEvent) => {
    const session = list.find(s => s.id === (e.target as HTMLElement).dataset.session);
    if (!session) return;
    const i = list.indexOf(session);
    const to = { ArrowDown: list[i + 1], ArrowUp: list[i - 1], Home: list[0], End: list.at(-1) }[e.key];
    if (to) focus(to.id);
    else if (e.key === 'F2' && session.role !== 'viewer') acting.startRename(session, 'list');
    else if (e.key === 'Delete' && (session.role === 'owner' || session.role === 'admin')) acting.askDelete(session);
    else return;
    e.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the links inside
    <div
      className="sessions"
      ref={box}
      onKeyDown={keys}
      onFocus={e => {
        const id = (e.target as HTMLElement).dataset.session;
        if (id) setAt(id);
      }}
    >
      {grouped(list).map(({ name, sessions }) => (
        <section key={name} aria-label={name}>
          <h2 className="day">{name}</h2>
          <ul>
            {sessions.map(s => (
              <Row
                key={s.id}
                session={s}
                current={s.id === current}
                stop={s.id === stop}
                unseen={unseen.has(s.id)}
                acting={acting}
                onOpen={onOpen}
                renaming={acting.renaming?.where === 'list' && acting.renaming.id === s.id}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface RowProps {
  session: Session;
  current: boolean;
  stop: boolean;
  unseen: boolean;
  renaming: boolean;
  acting: Acting;
  onOpen: (id: string) => void;
}

const Row = memo(function Row({ session, current, stop, unseen, renaming, acting, onOpen }: RowProps) {
  const [menu, setMenu] = useState(false);
  const opener = useRef<HTMLButtonElement>(null),
    wrote = useRef(renaming);
  useEffect(() => {
    if (wrote.current && !renaming && document.activeElement === document.body) opener.current?.focus();
    wrote.current = renaming;
  }, [renaming]);
  const name = session.title || 'Untitled',
    { word, tone } = stateOf(session, unseen && !current);
  if (renaming)
    return (
      <li className="row">
        <TitleField title={session.title} onDone={title => acting.rename(session, title)} />
      </li>
    );
  return (
    <li
      className={`row${current ? ' current' : ''}${menu ? ' menu-open' : ''}`}
      onContextMenu={e => {
        e.preventDefault();
        setMenu(true);
      }}
    >
      <button
        ref={opener}
        type="button"
        className="open"
        data-session={session.id}
        tabIndex={stop ? 0 : -1}
        aria-current={current ? 'page' : undefined}
        onClick={() => onOpen(session.id)}
      >
        <span className={`dot ${tone}`} aria-hidden="true" />
        <span className="title" dir="auto">
          {name}
        </span>
        <span className="meta">
          {word ? <span className={`word ${tone}`}>{word}</span> : ago(session.updated_at)}
          <span className="of"> · {session.agent}</span>
        </span>
      </button>
      <Late
        open={menu}
        onOpenChange={setMenu}
        trigger={
          <IconButton small className="more" label={`More for ${name}`} tabIndex={stop ? 0 : -1}>
            <Ellipsis />
          </IconButton>
        }
      >
        {opened => <SessionMenu session={session} acting={acting} where="list" {...opened} />}
      </Late>
    </li>
  );
});
