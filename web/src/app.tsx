import { useEffect, useRef, useState } from 'react';
import { deleteSession, listAgents, type Agent } from './api';
import { Conversation } from './conversation';
import { go, newId, useRoute } from './route';
import { useSession, useSessions } from './sessions';
import { Sidebar } from './sidebar';

export function App() {
  const route = useRoute();
  const sessions = useSessions();
  const [drawer, setDrawer] = useState(false);
  const [agents, setAgents] = useState<Agent[]>([]);
  const [agent, setAgent] = useState('');
  const [fresh, setFresh] = useState(newId);
  const refused = sessions.problem?.refused ? sessions.problem.sentence : null;
  useEffect(() => { if (refused === null) void listAgents().then(setAgents); }, [refused]);

  const id = route ?? fresh;
  const session = useSession(sessions, id, fresh);
  const begun = useRef(false); // the new chat has its address: the next one needs another id
  if (route === fresh) begun.current = true;
  const startNew = () => {
    if (begun.current) setFresh(newId());
    begun.current = false;
    go(null);
    setDrawer(false);
  };
  const remove = async (gone: string) => {
    await deleteSession(gone);
    if (gone === id) startNew();
  };
  useEffect(() => { document.title = session?.title ? `${session.title} · Tributary` : 'Tributary'; }, [session?.title]);

  return (
    <div className={drawer ? 'app drawer-open' : 'app'} onKeyDown={e => { if (e.key === 'Escape') setDrawer(false); }}>
      <button className="skip" onClick={() => document.querySelector<HTMLElement>('.scroll')?.focus()}>Skip to the conversation</button>
      <Sidebar
        sessions={sessions} current={route} onNew={startNew} onDelete={remove}
        onOpen={chosen => { go(chosen); setDrawer(false); }}
      />
      <button className="scrim" aria-label="Close the list" tabIndex={drawer ? 0 : -1} onClick={() => setDrawer(false)} />
      <main className="main">
        <header className="top">
          <button className="icon only-narrow" aria-label="Show the sessions" aria-expanded={drawer} onClick={() => setDrawer(true)}>☰</button>
          <h1>{session?.title || 'New chat'}</h1>
          {session ? <span className="agent">{session.agent}</span> : agents.length > 1 && (
            <label className="picker">
              <span>Agent</span>
              <select value={agent} onChange={e => setAgent(e.target.value)}>
                {!agents.some(a => a.default) && <option value="">choose one</option>}
                {agents.map(a => (
                  <option key={a.name} value={a.default ? '' : a.name} title={a.reason}>
                    {a.name}{a.default && ' (default)'}{a.available === false && ' (cannot start)'}
                  </option>
                ))}
              </select>
            </label>
          )}
        </header>
        {refused === null
          ? <Conversation key={id} id={id} known={route !== null} agent={session ? '' : agent} session={session} />
          : <div className="scroll"><div className="banner" role="alert">{refused}</div></div>}
      </main>
    </div>
  );
}
