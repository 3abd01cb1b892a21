import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { Ellipsis, PanelLeft } from 'lucide-react';
import type { Agent, Session } from '../api/api';
import { IconButton } from '../ui/button';
import { Late } from '../ui/late';
import type { Acting } from './acting';
import type { Start } from './start';
import { TitleField } from './titlefield';

const People = lazy(() => import('./people'));
const SessionMenu = lazy(() => import('./sessionmenu'));
const Pickers = lazy(() => import('./pickers'));
const StartPickers = lazy(() => import('./startpickers'));

interface TopProps {
  drawer: boolean;
  onDrawer: () => void;
  /** How many requests wait: the list, which a narrow window hides, says it. */
  waiting: number;
  children: ReactNode;
}

/** The line above what the page shows. */
export const Top = ({ drawer, onDrawer, waiting, children }: TopProps) => (
  <header className="top">
    <IconButton
      className="only-narrow"
      label={`Show the sessions${waiting ? `: ${waiting === 1 ? 'one request waits' : `${waiting} requests wait`}` : ''}`}
      aria-expanded={drawer}
      aria-controls="sessions"
      onClick={onDrawer}
    >
      <PanelLeft />
      {waiting > 0 && <span className="mark" aria-hidden="true" />}
    </IconButton>
    {children}
  </header>
);

/** A session's title, its agent, mode and model, and its menu. */
export function SessionHeader({ session, acting, children }: { session: Session; acting: Acting; children?: ReactNode }) {
  const [people, setPeople] = useState(false);
  const renaming = acting.renaming?.where === 'header' && acting.renaming.id === session.id;
  const name = session.title || 'Untitled';
  const title = useRef<HTMLHeadingElement>(null),
    wrote = useRef(renaming);
  useEffect(() => {
    // the keyboard stays here when the field goes
    if (wrote.current && !renaming && document.activeElement === document.body) title.current?.focus();
    wrote.current = renaming;
  }, [renaming]);
  return (
    <>
      {renaming ? (
        <TitleField title={session.title} onDone={title => acting.rename(session, title)} />
      ) : (
        <h1
          ref={title}
          tabIndex={-1}
          dir="auto"
          className="top-title"
          title={name}
          onDoubleClick={() => {
            if (session.role !== 'viewer') acting.startRename(session, 'header');
          }}
        >
          {name}
        </h1>
      )}
      <span className="agent">{session.agent}</span>
      {session.role !== 'viewer' && (
        <Suspense fallback={null}>
          <Pickers session={session} />
        </Suspense>
      )}
      {children}
      <Late
        trigger={
          <IconButton label="More for this session">
            <Ellipsis />
          </IconButton>
        }
      >
        {opened => <SessionMenu session={session} acting={acting} where="header" onShare={() => setPeople(true)} {...opened} />}
      </Late>
      {people && (
        <Suspense fallback={null}>
          <People session={session} acting={acting} onClose={() => setPeople(false)} />
        </Suspense>
      )}
    </>
  );
}

/** What a session begins with. */
export const NewHeader = (props: { agents: Agent[]; start: Start; onChange: (start: Start) => void }) => (
  <>
    <h1 className="top-title">New session</h1>
    <Suspense fallback={null}>
      <StartPickers {...props} />
    </Suspense>
  </>
);
