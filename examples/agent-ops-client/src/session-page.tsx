import { AiChatPanel } from './ai-chat-panel';
import { ChatPanel } from './chat-panel';
import { useSessionSettings } from './session-settings';
import { useSession } from './use-session';

/** A session. The events beside the chat come by the socket, whatever the flag says. */
export function SessionPage({ session }: { session: string }) {
  const [settings, change] = useSessionSettings(session);
  const title = useSession(session, s => s.title), users = useSession(session, s => s.users), branch = useSession(session, s => s.branch), toasts = useSession(session, s => s.toasts);
  return (
    <main>
      <header>
        <h1>{title || 'New session'}</h1>
        <p role="note" aria-label="Here now">{users.join(', ')}</p>
        {branch && <p role="note" aria-label="Branch">{branch}</p>}
        {toasts.map((t, i) => <p key={i}>{t}</p>)}
        <label><input type="checkbox" checked={settings.aiChat} onChange={e => change({ aiChat: e.target.checked })} /> AI SDK chat</label>
      </header>
      {settings.aiChat ? <AiChatPanel session={session} /> : <ChatPanel session={session} />}
    </main>
  );
}
