// The session's id lives in the hash, so that a reload, a bookmark and a second tab find it again.
import { useSyncExternalStore } from 'react';

const PREFIX = '#/s/';

function read(): string | null {
  if (!location.hash.startsWith(PREFIX)) return null;
  try { return decodeURIComponent(location.hash.slice(PREFIX.length)) || null; } catch { return null; }
}

function subscribe(changed: () => void) {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

export const useRoute = () => useSyncExternalStore(subscribe, read);

export function go(id: string | null) { location.hash = id === null ? '' : PREFIX + encodeURIComponent(id); }

/** Puts the id into the address without a new entry in the browser's history. */
export function settle(id: string) {
  if (read() === id) return;
  history.replaceState(null, '', PREFIX + encodeURIComponent(id));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** A new session's id; crypto.randomUUID is missing on pages that came over plain HTTP from another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
}
