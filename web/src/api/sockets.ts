// The WebSockets that carry the streams of all tabs. Over HTTP/1.1 a browser has six connections for an origin, which a few tabs would hold for good.
// A shared worker runs this file; where there is no shared worker, each tab does.

/** What a tab says: what it asks for (with a body: a POST), that it has taken so many characters, or that it wants no more; and which lock it holds. */
export type Order =
  | { id: number; path: string; secret: string; body: string | undefined }
  | { id: number; took: number }
  | { id: number; over: true }
  | { lock: string };

/** A frame of the gateway (docs/reference/http.md). lost: the connection is lost. refused: there was none, so that nothing was sent. */
export interface Frame {
  type: 'head' | 'data' | 'end' | 'error' | 'lost' | 'refused';
  requestId?: string;
  status?: number;
  headers?: Record<string, string[]>;
  data?: string;
  errorText?: string;
}

/** What a tab hears: a frame of what it has asked for, or the lock that the worker holds. */
export type News = (Frame & { id: number }) | { lock: string };

interface Socket {
  ws: WebSocket;
  secret: string;
  alone: boolean;
  /** When the gateway was heard last, or took some of a large prompt. It sends a comment on each open stream after 15 s of silence. */
  heard: number;
  answers: Map<string, (frame: Frame) => void>;
}

/** MOST: requests on one socket; the gateway takes 100. LARGE: a body that would delay others; UNTAKEN: what a tab may leave untaken, both in characters. In milliseconds: PATIENCE for a socket to open; IDLE until one without requests closes; QUIET: no prompt goes to a socket that may be dead, as after a computer has slept; DEAD: one is. */
const MOST = 90,
  LARGE = 1 << 18,
  UNTAKEN = 1 << 24,
  PATIENCE = 10_000,
  IDLE = 5000,
  QUIET = 20_000,
  DEAD = 45_000;

const sockets = new Set<Socket>();
let last = 0;

/** Holds a lock for as long as this tab or worker lives: whoever gets it after that knows that it lives no more. */
export const hold = (lock: string) =>
  new Promise<void>(held => {
    void navigator.locks.request(lock, () => {
      held();
      return new Promise(() => {
        /* until the end */
      });
    });
  });

/** A socket for a request. A large one has a socket alone: the gateway reads one frame after another. */
function socketFor(secret: string, alone: boolean): Socket {
  const shared = [...sockets].find(s => s.secret === secret && !s.alone && s.answers.size < MOST && Date.now() - s.heard < QUIET);
  if (shared && !alone) return shared;
  const url = new URL('api/chat', location.origin);
  url.protocol = url.protocol.replace('http', 'ws');
  const ws = new WebSocket(url, ['ai-sdk-chat', ...(secret ? [`page.${secret}`] : [])]),
    answers: Socket['answers'] = new Map(),
    socket = { ws, secret, alone, answers, heard: Date.now() };
  let end: Frame['type'] = 'refused';
  const over = () => {
    sockets.delete(socket);
    clearInterval(watch);
    ws.close();
    for (const tell of [...answers.values()]) tell({ type: end });
  };
  let unsent = 0;
  const watch = setInterval(() => {
    if (ws.bufferedAmount < unsent) socket.heard = Date.now();
    unsent = ws.bufferedAmount;
    if (Date.now() - socket.heard > (end === 'refused' ? PATIENCE : answers.size > 0 ? DEAD : IDLE)) over();
  }, 1000);
  ws.onopen = () => {
    end = 'lost';
    socket.heard = Date.now();
  };
  ws.onmessage = ({ data }) => {
    socket.heard = Date.now();
    const frame = JSON.parse(data as string) as Frame;
    answers.get(frame.requestId!)?.(frame);
  };
  ws.onclose = over;
  sockets.add(socket);
  return socket;
}

/** Asks the gateway, and tells each frame of the answer. Returns what ends it. */
function request({ path, secret, body }: Extract<Order, { path: string }>, tell: (frame: Frame) => void) {
  const socket = socketFor(secret, (body?.length ?? 0) > LARGE),
    { ws, answers } = socket,
    requestId = String(++last);
  const begin = JSON.stringify({ requestId, type: body === undefined ? 'get' : 'send', path }),
    send = () => ws.send(body === undefined ? begin : `${begin.slice(0, -1)},${body.slice(1)}`);
  const over = () => {
    answers.delete(requestId);
    ws.removeEventListener('open', send);
  };
  answers.set(requestId, frame => {
    if (frame.type !== 'head' && frame.type !== 'data') over();
    tell(frame);
  });
  if (ws.readyState === WebSocket.OPEN) send();
  else ws.addEventListener('open', send);
  return () => {
    if (!answers.has(requestId)) return;
    over();
    if (ws.readyState === WebSocket.OPEN) ws.send(JSON.stringify({ requestId, type: 'abort' }));
  };
}

/** Serves one tab, until it is gone. A tab that takes nothing delays no other one; its requests end as lost connections do. */
export function serve(port: MessagePort) {
  const requests = new Map<number, { end: () => void; untaken: number }>();
  const begin = (order: Extract<Order, { path: string }>) => {
    const { id } = order;
    const own = { end: () => {}, untaken: 0 };
    const tell = (frame: Frame) => {
      if (frame.type !== 'head' && frame.type !== 'data') requests.delete(id);
      port.postMessage({ ...frame, id } satisfies News);
      if ((own.untaken += frame.data?.length ?? 0) < UNTAKEN) return;
      own.end();
      own.untaken = 0;
      tell({ type: 'lost' });
    };
    requests.set(id, own);
    try {
      own.end = request(order, tell);
    } catch {
      tell({ type: 'refused' }); // no WebSockets here
    }
  };
  port.onmessage = ({ data: order }: MessageEvent<Order>) => {
    if ('lock' in order) {
      void navigator.locks.request(order.lock, () => {
        for (const { end } of requests.values()) end();
        port.close();
      });
    } else if ('path' in order) begin(order);
    else if ('took' in order) {
      const own = requests.get(order.id);
      if (own) own.untaken -= order.took;
    } else {
      requests.get(order.id)?.end();
      requests.delete(order.id);
    }
  };
}
