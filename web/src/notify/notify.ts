// Browser notifications: what waits, and turns that have ended, while no tab of this browser is seen.
import { visibleText } from '@tributary/chat';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Session } from '../api/api';
import { listRequests } from '../api/requests';
import { asksOf } from '../shell/groups';
import { goTo, type Place } from '../shell/route';

const KEY = 'tributary-notify',
  CHANGED = 'tributary-notify';

export type Permission = 'none' | 'ask' | 'off' | 'on' | 'refused';

function read(): Permission {
  if (typeof Notification === 'undefined') return 'none';
  if (Notification.permission === 'denied') return 'refused';
  if (Notification.permission !== 'granted') return 'ask';
  try {
    return localStorage.getItem(KEY) === 'off' ? 'off' : 'on';
  } catch {
    return 'on';
  }
}

/** Whether a tab that is not seen has somebody to tell. */
export const notifies = () => read() === 'on';

export async function setNotify(on: boolean) {
  try {
    localStorage.setItem(KEY, on ? 'on' : 'off');
  } catch {
    /* it lasts as long as the permission */
  }
  if (on && Notification.permission === 'default') await Notification.requestPermission();
  dispatchEvent(new Event(CHANGED));
}

const subscribe = (changed: () => void) => {
  addEventListener(CHANGED, changed);
  return () => removeEventListener(CHANGED, changed);
};
export const useNotify = () => useSyncExternalStore(subscribe, read);

const SEEN = 'tributary-seen',
  TOLD = 'tributary-told',
  MOST = 50,
  LATE = 60_000;

/** Holds a lock for as long as this tab is seen, so that the others know. */
function useSeen() {
  useEffect(() => {
    let leave: (() => void) | null = null,
      over = false;
    const visible = () => !over && document.visibilityState === 'visible';
    const look = () => {
      if (!visible()) {
        leave?.();
        leave = null;
        return;
      }
      void navigator.locks?.request(SEEN, { mode: 'shared' }, () =>
        visible() && !leave
          ? new Promise<void>(done => {
              leave = done;
            })
          : undefined,
      );
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      over = true;
      look();
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
}

/** What this browser has told. */
function told(): string[] {
  try {
    return JSON.parse(localStorage.getItem(TOLD) ?? '[]') as string[];
  } catch {
    return [];
  } // the tag makes several notifications one
}

/** Whether this tab is the one that tells: no tab is seen, and no other has told of it. A storage shows late what another tab has written, a lock does not. */
async function isFirst(tag: string): Promise<boolean> {
  if ((await navigator.locks.query()).held?.some(l => l.name === SEEN)) return false;
  return new Promise(resolve => {
    void navigator.locks.request(`${TOLD} ${tag}`, { ifAvailable: true }, lock => {
      const all = told();
      if (!lock || all.includes(tag)) return resolve(false);
      try {
        localStorage.setItem(TOLD, JSON.stringify([...all, tag].slice(-MOST)));
      } catch {
        /* as above */
      }
      resolve(true);
      return new Promise<void>(over => {
        setTimeout(over, LATE);
      });
    });
  });
}

/** Shows a notification, unless a tab of this browser is seen or another one has shown it. */
async function show(title: string, body: string, tag: string, place: Place) {
  if (read() !== 'on' || document.visibilityState === 'visible' || !(await isFirst(tag))) return;
  const note = new Notification(visibleText(title), { body: visibleText(body), tag, icon: '/favicon.svg' });
  note.onclick = () => {
    window.focus();
    goTo(place);
    note.close();
  };
}

/** Tells of each request that begins to wait, and of each turn that ends. The first list tells of nothing. A short turn may never be seen as it runs: its end counts. */
export function useNotifications(list: Session[] | null) {
  const before = useRef<Map<string, Session> | null>(null),
    ended = useRef(new Map<string, string>());
  useSeen();
  useEffect(() => {
    if (!list) return;
    const last = before.current,
      over = new Map(ended.current); // the newest turn of each session when it was idle last
    before.current = new Map(list.map(s => [s.id, s]));
    for (const s of list) if (s.state === 'idle' || !over.has(s.id)) ended.current.set(s.id, s.last_turn ?? '');
    if (!last || document.visibilityState === 'visible' || read() !== 'on') return;
    const newest = Math.max(0, ...[...last.values()].map(s => Date.parse(s.created_at)));
    for (const s of list) {
      const was = last.get(s.id),
        made = !was && Date.parse(s.created_at) > newest,
        fresh = asksOf(s).filter(id => !was?.waiting?.includes(id));
      if (fresh.length) {
        void listRequests(s.id).then(
          all => {
            for (const r of all.filter(r => fresh.includes(r.id)))
              void show(`${s.title || 'A session'} waits for you`, r.title || r.text || '', r.id, {
                at: 'request',
                id: s.id,
                request: r.id,
              });
          },
          () => {
            /* the list shows it */
          },
        );
      } else if (s.last_turn && s.state === 'idle' && (made || (was && s.last_turn !== over.get(s.id)))) {
        void show(s.title || 'A session', s.outcome === 'failed' ? 'The turn failed.' : 'The turn is over.', `${s.id} ${s.last_turn}`, {
          at: 'session',
          id: s.id,
          view: null,
        });
      }
    }
  }, [list]);
}
