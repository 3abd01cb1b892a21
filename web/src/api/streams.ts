// The streams of this tab. They travel with those of all other tabs over one WebSocket, which a shared worker has.
import { hold, serve, type Frame, type News, type Order } from './sockets';

interface Link {
  port: MessagePort;
  answers: Map<number, (frame: Frame) => void>;
}

/** Requests whose answers are streams: the list, the events of a session, the stream of a turn; and prompts. */
const STREAMS = /^\/api\/(events|sessions\/[^/]+\/events|chat\/[^/]+\/stream)(\?|$)/,
  PROMPTS = /^\/api\/chat\?/;

let link: Link | undefined,
  last = 0,
  shares = typeof SharedWorker !== 'undefined' && isSecureContext; // there are no locks elsewhere

const encoder = new TextEncoder();

function connect(): Link {
  if (link) return link;
  const answers: Link['answers'] = new Map();
  const end = (type: Frame['type']) => {
    link = undefined;
    for (const tell of [...answers.values()]) tell({ type });
  };
  let port: MessagePort;
  if (shares) {
    const worker = new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
      lock = `tributary-tab ${crypto.randomUUID()}`;
    ({ port } = worker);
    worker.onerror = () => {
      shares = false; // the gateway has another version of it now
      end('refused');
    };
    void hold(lock).then(() => port.postMessage({ lock } satisfies Order));
  } else {
    const { port1, port2 } = new MessageChannel();
    serve(port1);
    port = port2;
  }
  port.onmessage = ({ data: news }: MessageEvent<News>) => {
    if ('lock' in news) void navigator.locks.request(news.lock, () => end('lost'));
    else answers.get(news.id)?.(news);
  };
  return (link = { port, answers });
}

// A tab that is frozen takes nothing. It asks again when it goes on.
document.addEventListener('freeze', () => {
  for (const [id, tell] of [...(link?.answers ?? [])]) {
    link?.port.postMessage({ id, over: true } satisfies Order);
    tell({ type: 'lost' });
  }
});

/** The answer over the WebSocket; null where none opens. Fails as fetch does. */
function carried(path: string, secret: string, body: string | undefined, signal: AbortSignal | null | undefined): Promise<Response | null> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const { port, answers } = connect(),
      id = ++last,
      say = (order: Order) => port.postMessage(order);
    let out: ReadableStreamDefaultController<Uint8Array> | undefined;
    const over = () => {
      answers.delete(id);
      signal?.removeEventListener('abort', abort);
    };
    const fail = (error: Error) => {
      over();
      reject(error);
      out?.error(error);
    };
    const leave = () => {
      over();
      say({ id, over: true });
    };
    function abort() {
      leave();
      fail(signal!.reason as Error);
    }
    signal?.addEventListener('abort', abort);
    answers.set(id, ({ type, status, headers, data, errorText }) => {
      switch (type) {
        case 'head': {
          const all = Object.entries(headers!).flatMap(([name, values]) => values.map(value => [name, value] as [string, string]));
          const stream = status === 204 ? null : new ReadableStream<Uint8Array>({ start: c => void (out = c), cancel: leave });
          return resolve(new Response(stream, { status, headers: all }));
        }
        case 'data':
          say({ id, took: data!.length });
          return out?.enqueue(encoder.encode(data));
        case 'end':
          over();
          return out?.close();
        case 'refused':
          over();
          return resolve(null);
      }
      if (type === 'error' && !out) resolve(new Response(errorText, { status: 503 }));
      fail(new TypeError('network error'));
    });
    say({ id, path, secret, body });
  });
}

/**
 * Fetches from the gateway, streams over the shared connection. Where no WebSocket opens, the request itself says why: nobody is signed in here, the
 * gateway is away, or a proxy lets no WebSocket through. If only the WebSocket was away, the stream does not stay on the request.
 */
export async function fetchOver(
  path: string,
  init: RequestInit | undefined,
  secret: string,
  plain: () => Promise<Response>,
): Promise<Response> {
  const { method = 'GET', body, signal } = init ?? {},
    prompts = method === 'POST' && PROMPTS.test(path) && typeof body === 'string';
  if (!prompts && (method !== 'GET' || !STREAMS.test(path))) return plain();
  const over = () => carried(path, secret, prompts ? body : undefined, signal),
    answer = await over();
  if (answer) return answer;
  const res = await plain();
  if (prompts || !res.ok) return res;
  const second = await over();
  if (second) await res.body?.cancel();
  return second ?? res;
}
