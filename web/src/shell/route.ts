// The address of the page names the view, for reloads, bookmarks and second tabs. The address #/s/ID is a session. Its changes are at
// #/s/ID/review, and one of its requests is at #/s/ID/r/REQUEST. The list of all requests that wait is at #/inbox.
import { useMemo, useSyncExternalStore } from 'react';

export type View = 'review' | null;

export type Place =
  | { at: 'new' }
  | { at: 'inbox' }
  | { at: 'session'; id: string; view: View }
  | { at: 'request'; id: string; request: string };

function placeIn(hash: string): Place {
  if (hash === '#/inbox') return { at: 'inbox' };
  if (!hash.startsWith('#/s/')) return { at: 'new' };
  try {
    const [id = '', view, request = ''] = hash.slice(4).split('/').map(decodeURIComponent);
    if (!id) return { at: 'new' };
    return view === 'r' && request ? { at: 'request', id, request } : { at: 'session', id, view: view === 'review' ? view : null };
  } catch {
    return { at: 'new' };
  }
}

export function hashOf(place: Place): string {
  switch (place.at) {
    case 'new':
      return '';
    case 'inbox':
      return '#/inbox';
    case 'session':
      return `#/s/${encodeURIComponent(place.id)}${place.view ? `/${place.view}` : ''}`;
    case 'request':
      return `#/s/${encodeURIComponent(place.id)}/r/${encodeURIComponent(place.request)}`;
  }
}

/** The whole address of a place, for somebody else. */
export const linkTo = (place: Place) => location.origin + location.pathname + hashOf(place);

function subscribe(changed: () => void) {
  addEventListener('hashchange', changed);
  addEventListener('popstate', changed);
  return () => {
    removeEventListener('hashchange', changed);
    removeEventListener('popstate', changed);
  };
}

const useHash = () => useSyncExternalStore(subscribe, () => location.hash);

export function usePlace(): Place {
  const hash = useHash();
  return useMemo(() => placeIn(hash), [hash]);
}

export function useView(): View {
  const place = usePlace();
  return place.at === 'session' ? place.view : null;
}

const tell = () => dispatchEvent(new HashChangeEvent('hashchange')); // pushState and replaceState tell nobody

export function goTo(place: Place) {
  const hash = hashOf(place);
  if (hash === location.hash) return;
  history.pushState(null, '', location.pathname + hash);
  tell();
}

export const go = (id: string | null, view: View = null) => goTo(id === null ? { at: 'new' } : { at: 'session', id, view });

/** Puts the id into the address without a new entry in the browser's history. */
export function settle(id: string) {
  const now = placeIn(location.hash);
  if (now.at === 'session' && now.id === id) return;
  history.replaceState(null, '', location.pathname + hashOf({ at: 'session', id, view: null }));
  tell();
}

/** A new session's id; crypto.randomUUID is missing on pages that came over plain HTTP from another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
}
