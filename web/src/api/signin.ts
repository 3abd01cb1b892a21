// The page's half of a sign-in. The cookie alone opens nothing: programs on other ports of this host see it too. This
// secret stands in the storage of the page's origin, which they cannot read, and goes along with each request.
import { fetchOver } from './streams';

const HEADER = 'X-Tributary-Page',
  KEY = 'tributary-page',
  ATTEMPT = 'tributary-attempt',
  SECRET = 'tributary-secret'; // while it is being looked at

export interface Me {
  user: { id: string; name: string; role: string } | null;
  sign_in?: string;
  signed_in: boolean;
}

/** A storage that the browser may refuse, as in some private windows: then the secret lasts as long as the page. */
function kept(storage: () => Storage) {
  const spare = new Map<string, string>();
  return {
    get: (key: string) => {
      try {
        return storage().getItem(key) ?? spare.get(key) ?? '';
      } catch {
        return spare.get(key) ?? '';
      }
    },
    set: (key: string, value: string) => {
      spare.set(key, value);
      try {
        storage().setItem(key, value);
      } catch {
        /* the spare one remains */
      }
    },
  };
}
const local = kept(() => localStorage),
  tab = kept(() => sessionStorage);

const withSecret = (init: RequestInit | undefined, secret: string): RequestInit => {
  const headers = new Headers(init?.headers);
  if (secret) headers.set(HEADER, secret);
  return { ...init, headers };
};

let carrier: typeof fetch = (input, init) => {
  const secret = local.get(KEY);
  return fetchOver(String(input), init, secret, () => fetch(input, withSecret(init, secret)));
};

const REFUSED = 'tributary-refused',
  AGAIN = 'tributary-signed-in';

/** The fetch of this page, for its own gateway only. */
export const ask: typeof fetch = async (input, init) => {
  const res = await carrier(input, init);
  if (res.status === 401) dispatchEvent(new Event(REFUSED));
  return res;
};

const on = (name: string) => (told: () => void) => {
  addEventListener(name, told);
  return () => removeEventListener(name, told);
};

/** Calls told when the gateway has refused a request because nobody is signed in here, until the function that is returned is called. */
export const onRefused = on(REFUSED);
/** Calls told after a sign-in that has left the page as it was. */
export const onSignedIn = on(AGAIN);

/** Has another fetch carry all requests: the widget's page has a token in the place of a sign-in. */
export const carry = (by: typeof fetch) => {
  carrier = by;
};

/** A sign-in or a sign-out takes moments: after 45 s nothing comes any more. */
const soon = () => AbortSignal.timeout(45_000);

let last = ''; // the person whom this page belongs to

export async function me(): Promise<Me | null> {
  try {
    const res = await ask('/auth/me', { signal: soon() }),
      who = res.ok ? ((await res.json()) as Me) : null;
    if (who?.user) last = who.user.id;
    return who;
  } catch {
    return null;
  }
}

/**
 * Takes the secret out of the address, if this is the first page after signing in, and goes back to the place that was opened before. A
 * secret that opens nothing is not taken. One that is being looked at waits in the tab, for whoever loads the page again meanwhile.
 */
export async function adopt() {
  const secret = fromAddress() ?? tab.get(SECRET);
  if (!secret) return;
  tab.set(SECRET, secret);
  try {
    const res = await fetch('/auth/me', withSecret({ signal: soon() }, secret));
    if (res.ok && ((await res.json()) as Me).user) local.set(KEY, secret);
    tab.set(SECRET, '');
  } catch {
    /* the page is being loaded again, or the gateway is away: the next load looks again */
  }
}

function fromAddress(): string | null {
  const params = new URLSearchParams(location.hash.slice(1));
  const secret = params.get('page'),
    attempt = params.get('for');
  if (!secret) return null;
  const [mine, back = ''] = tab.get(ATTEMPT).split(' ');
  const ours = attempt !== null && attempt === mine;
  const at = params.get('at') ?? ''; // of an address with a token
  if (ours) history.replaceState(null, '', location.pathname + back);
  else history.replaceState(null, '', location.pathname + location.search + (attempt === null && at.startsWith('#') ? at : ''));
  tab.set(ATTEMPT, '');
  return attempt === null || ours ? secret : null; // else it is somebody else's attempt to sign in
}

/** Goes to the sign-in service, and comes back to the same session. */
export function signIn(address: string) {
  const attempt = Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
  tab.set(ATTEMPT, `${attempt} ${location.search}${location.hash}`);
  location.assign(`${address}?page=${attempt}`);
}

/** Rejects with a sentence if the gateway did not hear of it. */
export async function signOut() {
  await ask('/auth/sign-out', { method: 'POST', signal: soon() }).catch(() => {
    throw new Error('The gateway cannot be reached, so you are still signed in here. Try again.');
  });
  local.set(KEY, '');
  location.reload();
}

/** What a token that the gateway refuses says to a person. The gateway's own sentence tells of headers, but not for a JSON Web Token. */
const refusalOf = async (res: Response, token: string) => {
  const { error } = (await res.json().catch(() => ({}))) as { error?: string };
  return res.status === 401 && token.split('.').length !== 3
    ? 'The gateway does not know this token.'
    : (error ?? `The gateway answered ${res.status}.`);
};

/**
 * Signs in by a token. The page stays as it is, and what waits for the gateway tries again; a page with another person's conversation
 * is loaded anew. Rejects if the token opens nothing.
 */
export async function signInBy(token: string) {
  let headers: Headers;
  try {
    headers = new Headers({ authorization: `Bearer ${token}` });
  } catch {
    throw new Error('The gateway does not know this token.');
  } // letters that no header can have
  const res = await fetch('/auth/sign-in', { method: 'POST', headers, signal: soon() }).catch(() => null);
  if (!res) throw new Error('The gateway cannot be reached.');
  if (!res.ok) throw new Error(await refusalOf(res, token));
  local.set(KEY, ((await res.json()) as { page: string }).page);
  await goOn();
}

/** What this page shows and what it asks for belong to one person. */
async function goOn() {
  const before = last,
    { user } = (await me()) ?? {};
  if (!user) return;
  if (before && user.id !== before) {
    location.reload();
    return;
  }
  dispatchEvent(new Event(AGAIN));
}

addEventListener('storage', e => {
  if (e.key === KEY && e.newValue) void goOn();
}); // another tab has signed in
