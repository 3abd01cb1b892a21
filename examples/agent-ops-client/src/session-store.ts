// One session: its socket, and a store of what the socket tells. Both hooks and the events beside the chat use it.
import { createStore, type StoreApi } from 'zustand/vanilla';
import { EMPTY, fold, withHistory, type Frame, type State } from './frames';
import { at, call, openSocket } from './gateway';

/** A component may come back at once, as in React's strict mode. */
const LINGER = 1000;

const FIRST = 1000, LONGEST = 30_000, PING = 30_000;

export interface SessionStore extends StoreApi<State> {
  tell: (frame: object) => void;
}

function open(id: string): SessionStore & { close: () => void } {
  const store = createStore<State>(() => EMPTY);
  let socket: WebSocket, tries = 0, timer = 0, over = false;
  const dial = () => {
    socket = openSocket(id);
    socket.onmessage = (e: MessageEvent<string>) => {
      const frame = JSON.parse(e.data) as Frame;
      store.setState(s => fold(s, frame));
      if (frame.type !== 'init') return;
      tries = 0;
      call('GET', `${at(id)}/messages?after=0`).then(async res => {
        const { messages } = await res.json() as { messages: Parameters<typeof withHistory>[1] };
        store.setState(s => withHistory(s, messages));
      }).catch((e: Error) => store.setState({ error: e.message }));
    };
    socket.onclose = () => {
      if (!over) timer = window.setTimeout(dial, Math.min(LONGEST, FIRST * 2 ** tries++));
    };
  };
  const tell = (frame: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
    else store.setState({ error: 'There is no connection now.' });
  };
  dial();
  const ping = window.setInterval(() => { if (socket.readyState === WebSocket.OPEN) tell({ type: 'ping' }); }, PING);
  return {
    ...store, tell,
    close() {
      over = true;
      clearTimeout(timer);
      clearInterval(ping);
      socket.close();
    },
  };
}

const shared = new Map<string, { session: ReturnType<typeof open>; readers: number }>();

/** The store of a session, for a component: it stays as long as any component reads it. */
export function sessionStore(id: string): SessionStore {
  let entry = shared.get(id);
  if (!entry) shared.set(id, entry = { session: open(id), readers: 0 });
  return entry.session;
}

/** Counts a reader in, and returns what counts it out. */
export function reading(id: string): () => void {
  sessionStore(id);
  const entry = shared.get(id)!;
  entry.readers++;
  return () => {
    entry.readers--;
    setTimeout(() => {
      if (entry.readers || shared.get(id) !== entry) return;
      entry.session.close();
      shared.delete(id);
    }, LINGER);
  };
}
