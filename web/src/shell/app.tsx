import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { listAgents, type Agent } from '../api/api';
import { useSession, useSessions } from '../api/sessions';
import { useMarkUnseen } from '../api/unseen';
import { Conversation } from '../conversation/conversation';
import { SessionUsage } from '../conversation/meter';
import { ChangesButton } from '../review/button';
import { step, useKeys } from '../palette/keys';
import { notifies, useNotifications } from '../notify/notify';
import { useActing } from './acting';
import { NewHeader, SessionHeader, Top } from './header';
import { go, goTo, newId, usePlace } from './route';
import { NO_FILTER } from './search';
import { Sidebar } from './sidebar';
import { asksOf } from './groups';
import { begin, DEFAULTS } from './start';

const DeleteDialog = lazy(() => import('./deletedialog'));
const ExportDialog = lazy(() => import('./exportdialog'));
const Inbox = lazy(() => import('../inbox/inbox'));
const SignIn = lazy(() => import('../signin/signin'));
const KeyList = lazy(() => import('../palette/keylist'));
const Palette = lazy(() => import('../palette/palette'));
const OneRequest = lazy(() => import('../inbox/one'));

export function App() {
  const place = usePlace(),
    route = place.at === 'session' ? place.id : null;
  const sessions = useSessions(notifies),
    { list, problem } = sessions;
  const [drawer, setDrawer] = useState(false);
  const [agents, setAgents] = useState<Agent[]>([]);
  const [start, setStart] = useState(DEFAULTS);
  const [filter, setFilter] = useState(NO_FILTER);
  const [fresh, setFresh] = useState(newId);
  const refused = problem?.refused === true;
  useEffect(() => {
    if (!refused) void listAgents().then(setAgents);
  }, [refused, route]); // an agent that has run may offer more

  const id = route ?? fresh;
  const session = useSession(sessions, id, fresh);
  const [begun, setBegun] = useState<string | null>(null); // the new session has its address: the next one needs another id
  if (route === fresh && begun !== fresh) setBegun(fresh);
  const startNew = useCallback(() => {
    setFresh(now => (now === begun ? newId() : now));
    go(null);
    setDrawer(false);
  }, [begun]);
  const gone = useCallback(
    (which: string) => {
      if (which === id) startNew();
    },
    [id, startNew],
  );
  const acting = useActing(gone),
    { askExport } = acting;
  const onExport = useCallback((message: string) => askExport({ id, message }), [askExport, id]);
  useMarkUnseen(list, route);
  useNotifications(list);
  const waiting = useMemo(() => (list ?? []).reduce((n, s) => n + asksOf(s).length, 0), [list]);
  const title = place.at === 'inbox' ? 'Inbox' : session?.title;
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ''}${title ? `${title} · ` : ''}Tributary`;
  }, [waiting, title]);
  const [menu, setMenu] = useState<'palette' | 'keys' | null>(null);
  const shown = place.at === 'session' ? session : undefined,
    writes = shown && shown.role !== 'viewer';
  const close = () => setMenu(null);
  const search = () => {
    setDrawer(matchMedia('(max-width: 760px)').matches);
    requestAnimationFrame(() => document.getElementById('session-search')?.focus());
  };
  useKeys({
    palette: () => setMenu(now => (now === 'palette' ? null : 'palette')),
    keys: () => setMenu('keys'),
    new: startNew,
    inbox: () => goTo({ at: 'inbox' }),
    search,
    next: () => step(1),
    previous: () => step(-1),
    rename: writes ? () => acting.startRename(shown, 'header') : undefined,
    stop: writes && shown.state !== 'idle' ? () => acting.stop(shown) : undefined,
  });
  const before = useCallback(() => begin(fresh, start), [fresh, start]);
  const [loaded, setLoaded] = useState(false); // what is on the page stays there when a sign-in ends
  if (list && !loaded) setLoaded(true);

  const top = { drawer, waiting, onDrawer: () => setDrawer(true) };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is for whatever has the focus inside
    <div
      className={drawer ? 'app drawer-open' : 'app'}
      onKeyDown={e => {
        if (e.key === 'Escape') setDrawer(false);
      }}
    >
      <button type="button" className="btn skip" onClick={() => document.querySelector<HTMLElement>('.scroll')?.focus()}>
        Skip to the conversation
      </button>
      <Sidebar
        sessions={sessions}
        agents={agents}
        current={route}
        inbox={place.at === 'inbox'}
        waiting={waiting}
        filter={filter}
        acting={acting}
        onFilter={setFilter}
        onNew={startNew}
        onClose={() => setDrawer(false)}
        onInbox={() => {
          goTo({ at: 'inbox' });
          setDrawer(false);
        }}
        onOpen={chosen => {
          go(chosen);
          setDrawer(false);
        }}
      />
      <button type="button" className="scrim" aria-label="Close the list" tabIndex={drawer ? 0 : -1} onClick={() => setDrawer(false)} />
      <main className="main">
        {problem && !refused && (
          <p className="away" role="status">
            {problem.sentence}
          </p>
        )}
        {place.at === 'inbox' && (
          <>
            <Top {...top}>
              <h1 className="top-title">Inbox</h1>
            </Top>
            <Suspense fallback={<div className="scroll" aria-busy="true" />}>
              <Inbox sessions={list} />
            </Suspense>
          </>
        )}
        {place.at === 'request' && (
          <>
            <Top {...top}>
              <h1 className="top-title">Request</h1>
            </Top>
            <Suspense fallback={<div className="scroll" aria-busy="true" />}>
              <OneRequest session={place.id} id={place.request} sessions={list} />
            </Suspense>
          </>
        )}
        {(place.at === 'session' || place.at === 'new') && (
          <>
            <Top {...top}>
              {session ? (
                <SessionHeader key={session.id} session={session} acting={acting}>
                  <SessionUsage id={id} />
                  <ChangesButton
                    id={id}
                    open={place.at === 'session' && place.view === 'review'}
                    onOpen={open => go(id, open ? 'review' : null)}
                  />
                </SessionHeader>
              ) : route !== null && route !== fresh ? (
                <h1 className="top-title">Session</h1>
              ) : (
                <NewHeader agents={agents} start={start} onChange={setStart} />
              )}
            </Top>
            {refused && !loaded ? (
              <div className="scroll" />
            ) : (
              <Conversation
                key={id}
                id={id}
                known={route !== null}
                agent={session ? '' : start.agent}
                session={session}
                before={before}
                onExport={onExport}
              />
            )}
          </>
        )}
      </main>
      {refused && (
        <Suspense fallback={null}>
          <SignIn again={loaded} />
        </Suspense>
      )}
      {menu === 'palette' && !refused && (
        <Suspense fallback={null}>
          <Palette
            list={list}
            session={shown}
            agents={agents}
            acting={acting}
            onClose={close}
            onSearch={search}
            onKeys={() => setMenu('keys')}
            onNew={agent => {
              startNew();
              if (agent !== undefined) setStart({ ...DEFAULTS, agent });
            }}
          />
        </Suspense>
      )}
      {menu === 'keys' && (
        <Suspense fallback={null}>
          <KeyList onClose={close} />
        </Suspense>
      )}
      {acting.deleting && (
        <Suspense fallback={null}>
          <DeleteDialog acting={acting} />
        </Suspense>
      )}
      {acting.exporting && (
        <Suspense fallback={null}>
          <ExportDialog {...acting.exporting} onClose={() => acting.askExport(null)} />
        </Suspense>
      )}
    </div>
  );
}
