import { useEffect, useMemo, useState } from 'react';
import { deleteSession, listAgents } from './api';
import { Conversation } from './conversation';
import { go, newId, useRoute } from './route';
import { useSessions } from './sessions';
import { Sidebar } from './sidebar';

export function App() {
  const route = useRoute();
  const sessions = useSessions();
  const [drawer, setDrawer] = useState(false);
  const [agents, setAgents] = useState<string[]>([]);
  const [agent, setAgent] = useState('');
  const [fresh, setFresh] = useState(newId);
  useEffect(() => { void listAgents().then(setAgents); }, []);

  const id = route ?? fresh;
  const session = useMemo(() => sessions.list?.find(s => s.id === id), [sessions.list, id]);
  const startNew = () => { setFresh(newId()); go(null); setDrawer(false); };
  const remove = async (gone: string) => {
    await deleteSession(gone);
    if (gone === id) startNew();
  };
  useEffect(() => { document.title = session?.title ? `${session.title} · Tributary` : 'Tributary'; }, [session?.title]);

  return (
    <div className={drawer ? 'app drawer-open' : 'app'} onKeyDown={e => { if (e.key === 'Escape') setDrawer(false); }}>
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
                <option value="">default</option>
                {agents.map(a => <option key={a}>{a}</option>)}
              </select>
            </label>
          )}
        </header>
        <Conversation key={id} id={id} known={route !== null} agent={session ? '' : agent} session={session} />
      </main>
    </div>
  );
}
