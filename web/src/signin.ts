// The page's half of a sign-in. The cookie alone opens nothing: programs on other ports of this host see it too. This
// secret stands in the storage of the page's origin, which they cannot read, and goes along with each request.
const HEADER = 'X-Tributary-Page', KEY = 'tributary-page', ATTEMPT = 'tributary-attempt';

export interface Me { user: { id: string; name: string; role: string } | null; sign_in?: string; signed_in: boolean }

/** A storage that the browser may refuse, as in some private windows: then the secret lasts as long as the page. */
function kept(storage: () => Storage) {
  const spare = new Map<string, string>();
  return {
    get: (key: string) => { try { return storage().getItem(key) ?? spare.get(key) ?? ''; } catch { return spare.get(key) ?? ''; } },
    set: (key: string, value: string) => { spare.set(key, value); try { storage().setItem(key, value); } catch { /* the spare one remains */ } },
  };
}
const local = kept(() => localStorage), tab = kept(() => sessionStorage);

const withSecret = (init: RequestInit | undefined, secret: string): RequestInit => {
  const headers = new Headers(init?.headers);
  if (secret) headers.set(HEADER, secret);
  return { ...init, headers };
};

/** The fetch of this page, for its own gateway only. */
export const ask = (input: RequestInfo | URL, init?: RequestInit) => fetch(input, withSecret(init, local.get(KEY)));

async function meWith(secret: string): Promise<Me | null> {
  try {
    const res = await fetch('/auth/me', withSecret(undefined, secret));
    return res.ok ? await res.json() as Me : null;
  } catch { return null; }
}

export const me = () => meWith(local.get(KEY));

/** Takes the secret out of the address, if this is the first page after signing in. A secret that opens nothing is not taken. */
export async function adopt() {
  const params = new URLSearchParams(location.hash.slice(1));
  const secret = params.get('page'), attempt = params.get('for');
  if (!secret) return;
  const [mine, back] = tab.get(ATTEMPT).split(' ');
  history.replaceState(null, '', location.pathname + location.search + (attempt ? back ?? '' : ''));
  tab.set(ATTEMPT, '');
  if (attempt !== null && attempt !== mine) return; // somebody else's attempt to sign in
  if ((await meWith(secret))?.user) local.set(KEY, secret);
}

/** Goes to the sign-in service, and comes back to the same session. */
export function signIn(address: string) {
  const attempt = Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
  tab.set(ATTEMPT, `${attempt} ${location.hash}`);
  location.assign(`${address}?page=${attempt}`);
}

export async function signOut() {
  await ask('/auth/sign-out', { method: 'POST' });
  local.set(KEY, '');
  location.reload();
}
