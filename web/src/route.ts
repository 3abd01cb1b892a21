// The session's id lives in the hash, so that a reload, a bookmark and a second tab find it again.
import { useSyncExternalStore } from 'react';

const PREFIX = '#/s/';

function read(): string | null {
  if (!location.hash.startsWith(PREFIX)) return null;
  try { return decodeURIComponent(location.hash.slice(PREFIX.length)) || null; } catch { return null; }
}

function subscribe(changed: () => void) {
  addEventListener('hashchange', changed);
  addEventListener('popstate', changed);
  return () => { removeEventListener('hashchange', changed); removeEventListener('popstate', changed); };
}

export const useRoute = () => useSyncExternalStore(subscribe, read);

const path = (id: string | null) => location.pathname + (id === null ? '' : PREFIX + encodeURIComponent(id));
const told = () => dispatchEvent(new HashChangeEvent('hashchange')); // pushState and replaceState tell nobody

export function go(id: string | null) {
  if (read() === id) return;
  history.pushState(null, '', path(id));
  told();
}

/** Puts the id into the address without a new entry in the browser's history. */
export function settle(id: string) {
  if (read() === id) return;
  history.replaceState(null, '', path(id));
  told();
}

/** A new session's id; crypto.randomUUID is missing on pages that came over plain HTTP from another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
}
