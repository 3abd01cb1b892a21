// The parts of a browser that Node lacks: a document for react-dom, relative
// URLs with the token that a proxy adds, and a connection that can be lost.
// The clients themselves stay stock: they call the global fetch as they do on any page.
import { Window } from 'happy-dom';

const nodeFetch = globalThis.fetch;
const tape = [];
const cuts = new Map();
const refused = new Set();
const held = new Map();
let origin = null,
  token = null;

/** Gives react-dom a document. Node's own fetch, timers and streams stay in place. */
export function openWindow() {
  const window = new Window({ url: 'http://page.test/' });
  globalThis.window = window;
  globalThis.document = window.document;
  globalThis.navigator ??= window.navigator;
  globalThis.HTMLIFrameElement ??= window.HTMLIFrameElement;
  return () => window.happyDOM.close();
}

/** From now on relative URLs belong to this origin. The token goes along with them, as the proxy of a development server adds it. */
export async function visit(base, bearer) {
  origin = base;
  token = bearer ?? null;
}

/** Loses the connection of the newest response of this chat after so many more bytes. */
export const cutAfter = (chatId, bytes) => cuts.set(chatId, bytes);

/** The next POST of this chat does not reach the gateway. */
export const refusePost = chatId => refused.add(chatId);

/** The next request for the stream of this chat, or for its history, does not leave the page until the function that this returns is called. */
export const holdResume = chatId => hold(`${chatId}/stream`);
export const holdHistory = chatId => hold(`${chatId}/messages`);

function hold(path) {
  let release;
  held.set(
    path,
    new Promise(resolve => {
      release = resolve;
    }),
  );
  return release;
}

/** Loses every open connection of this chat now: the page is gone. */
export function drop(chatId) {
  for (const entry of tape) if (entry.chatId === chatId) entry.lose();
}

/** The requests the clients sent for this chat, oldest first: {method, path, status, headers, body, open}. */
export const requests = chatId => tape.filter(e => e.chatId === chatId);

globalThis.fetch = async (input, init = {}) => {
  const url = new URL(String(input?.url ?? input), origin ?? undefined);
  const own = typeof input === 'string' ? input.startsWith('/') : input instanceof URL && input.origin === origin; // as a page makes them for its own origin
  const headers = new Headers(init.headers);
  if (own) {
    headers.set('origin', origin);
    headers.set('sec-fetch-site', 'same-origin');
    if (token && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
  }
  const body = typeof init.body === 'string' && init.body.startsWith('{') ? JSON.parse(init.body) : null;
  const inUrl = /\/([^/?&]+)\/stream(\?|$)/.exec(url.pathname + url.search);
  const line = new AbortController();
  const entry = {
    chatId: body?.id ?? (inUrl ? decodeURIComponent(inUrl[1]) : null),
    method: init.method ?? 'GET',
    path: url.pathname + url.search,
    body,
    status: null,
    headers: null,
    open: true,
    lose: () => line.abort(new TypeError('network error')),
  };
  tape.push(entry);
  if (entry.method === 'POST' && refused.delete(entry.chatId)) throw new TypeError('Failed to fetch');
  const path = url.pathname.split('/').slice(-2).map(decodeURIComponent).join('/');
  if (entry.method === 'GET' && held.has(path)) {
    const released = held.get(path);
    held.delete(path);
    await released;
  }
  init.signal?.addEventListener('abort', () => line.abort(init.signal.reason));
  if (init.signal?.aborted) line.abort(init.signal.reason);
  const res = await nodeFetch(url, { ...init, headers, signal: line.signal }).finally(() => {
    entry.open = false;
  });
  entry.status = res.status;
  entry.headers = res.headers;
  if (!res.body) return res;
  entry.open = true;
  return new Response(watch(res.body, entry, line), { status: res.status, statusText: res.statusText, headers: res.headers });
};

/** As far as a page needs it: relative URLs, data lines, what became of the connection, and coming back where it was lost. */
globalThis.EventSource ??= class {
  onopen = null;
  onmessage = null;
  onerror = null;
  #line = new AbortController();
  #last = '';

  constructor(path) {
    this.#run(new URL(path, origin)).catch(() => this.#lost());
  }
  close() {
    this.#line.abort();
  }

  #lost() {
    if (!this.#line.signal.aborted) this.onerror?.();
  }

  async #run(url) {
    while (!this.#line.signal.aborted) {
      const headers = {
        accept: 'text/event-stream',
        'sec-fetch-site': 'same-origin',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(this.#last && { 'last-event-id': this.#last }),
      };
      const res = await nodeFetch(url, { headers, signal: this.#line.signal });
      if (res.status !== 200) return this.#lost();
      this.onopen?.();
      let text = '';
      try {
        for await (const piece of res.body.pipeThrough(new TextDecoderStream())) {
          const frames = (text + piece).split('\n\n');
          text = frames.pop();
          for (const frame of frames) this.#take(frame);
        }
      } catch {
        /* lost: it comes back, unless the page closes it */
      }
      this.#lost();
    }
  }

  #take(frame) {
    const fields = Object.fromEntries(frame.split('\n').map(l => [l.slice(0, l.indexOf(':')), l.slice(l.indexOf(':') + 2)]));
    this.#last = fields.id ?? this.#last;
    if (fields.data) this.onmessage?.({ data: fields.data, lastEventId: this.#last });
  }
};

// Passes a body on; notes its end, and loses the line where a cut was asked for.
function watch(source, entry, line) {
  const reader = source.getReader();
  let left = null;
  return new ReadableStream({
    async pull(out) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          entry.open = false;
          out.close();
          return;
        }
        if (cuts.has(entry.chatId)) {
          left = cuts.get(entry.chatId);
          cuts.delete(entry.chatId);
        }
        if (left != null && value.byteLength >= left) {
          if (left) out.enqueue(value.subarray(0, left));
          entry.open = false;
          line.abort(new TypeError('network error'));
          out.error(new TypeError('network error'));
          return;
        }
        if (left != null) left -= value.byteLength;
        out.enqueue(value);
      } catch (e) {
        entry.open = false;
        out.error(line.signal.aborted ? line.signal.reason : e);
      }
    },
    cancel(reason) {
      entry.open = false;
      return reader.cancel(reason).catch(() => {});
    },
  });
}
