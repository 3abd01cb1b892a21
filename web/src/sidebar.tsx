import { useEffect, useState } from 'react';
import { Account } from './account';
import type { Session } from './api';
import type { Sessions } from './sessions';

const STATE = { idle: '', running: 'working', paused: 'waits for you' } as const;

interface Props { sessions: Sessions; current: string | null; onNew: () => void; onOpen: (id: string) => void; onDelete: (id: string) => Promise<void> }

export function Sidebar({ sessions, current, onNew, onOpen, onDelete }: Props) {
  const { list, problem, more } = sessions;
  return (
    <nav className="side" aria-label="Sessions">
      <div className="brand"><img src="/favicon.svg" alt="" width="22" height="22" /> Tributary</div>
      <button className="new" onClick={onNew}>New chat</button>
      {problem && !problem.refused && <p className="side-note" role="status">{problem.sentence}</p>}
      {!problem && list?.length === 0 && <p className="side-note">No sessions yet.</p>}
      <ul>{list?.map(s => <Row key={s.id} session={s} current={s.id === current} onOpen={onOpen} onDelete={onDelete} />)}</ul>
      {more && <button className="older" onClick={more}>Older sessions</button>}
      <Account again={problem} />
    </nav>
  );
}

function Row({ session, current, onOpen, onDelete }: { session: Session; current: boolean } & Pick<Props, 'onOpen' | 'onDelete'>) {
  const [sure, setSure] = useState(false);
  useEffect(() => {
    if (!sure) return;
    const timer = setTimeout(() => setSure(false), 4000);
    return () => clearTimeout(timer);
  }, [sure]);
  const name = session.title || 'Untitled';
  return (
    <li className={current ? 'row current' : 'row'}>
      <button className="open" aria-current={current ? 'page' : undefined} onClick={() => onOpen(session.id)}>
        <span className="title">{name}</span>
        <span className="meta">
          {session.state !== 'idle' && <span className={`dot ${session.state}`} aria-hidden="true" />}
          {[session.agent, session.state === 'idle' && session.outcome === 'failed' ? 'failed' : STATE[session.state]].filter(Boolean).join(' · ')}
        </span>
      </button>
      <button
        className={sure ? 'delete sure' : 'delete'} aria-label={sure ? `Really delete ${name}` : `Delete ${name}`}
        onClick={() => { if (sure) void onDelete(session.id); else setSure(true); }}
      >{sure ? 'Delete?' : '×'}</button>
    </li>
  );
}
