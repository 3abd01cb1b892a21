// The fetch of the page in the frame: with the token of the host, and never with a cookie.
import { askToken } from './host';

let token: string | undefined,
  known = false,
  asking: Promise<void> | null = null;

/** Asks the host once for all requests that wait. */
const renew = () =>
  (asking ??= askToken()
    .then(t => {
      token = t;
      known = true;
    })
    .finally(() => {
      asking = null;
    }));

const send = (input: RequestInfo | URL, init: RequestInit | undefined) => {
  const headers = new Headers(init?.headers);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  return fetch(input, { ...init, headers, credentials: 'omit' });
};

const prompted = new Set<() => void>();

/** Calls told when the gateway has taken a prompt, until the function that is returned is called. */
export function onPrompt(told: () => void): () => void {
  prompted.add(told);
  return () => {
    prompted.delete(told);
  };
}

/** A request that the gateway refuses for its token is sent again with a new one, if the host has one. */
const trying: typeof fetch = async (input, init) => {
  if (!known) await renew();
  const used = token,
    res = await send(input, init);
  if (res.status !== 401) return res;
  if (token === used) await renew();
  return token === used ? res : send(input, init);
};

/** The fetch for all requests of the page in the frame. */
export const withToken: typeof fetch = async (input, init) => {
  const res = await trying(input, init);
  if (res.ok && init?.method === 'POST' && /^\/api\/chat\?/.test(String(input))) for (const told of prompted) told();
  return res;
};
