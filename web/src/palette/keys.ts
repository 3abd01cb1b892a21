// The keys of the whole page. Keys of one letter do nothing while a person types, and can be turned off.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

export type Deed = 'palette' | 'new' | 'inbox' | 'search' | 'next' | 'previous' | 'rename' | 'stop' | 'keys';

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The key of each deed, as people read it. */
export const KEYS: Record<Deed, string> = {
  palette: mac ? '⌘K' : 'Ctrl+K',
  new: 'n',
  inbox: 'i',
  search: '/',
  next: 'Shift+J',
  previous: 'Shift+K',
  rename: 'F2',
  stop: 'Shift+S',
  keys: '?',
};

const PLAIN: Record<string, Deed> = { n: 'new', i: 'inbox', '/': 'search', J: 'next', K: 'previous', S: 'stop', '?': 'keys' };

const STORED = 'tributary-keys',
  CHANGED = 'tributary-keys';

function letters(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return true;
  }
}

export function setLetters(on: boolean) {
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off');
  } catch {
    /* the browser keeps nothing: the keys stay on */
  }
  dispatchEvent(new Event(CHANGED));
}

const subscribe = (changed: () => void) => {
  addEventListener(CHANGED, changed);
  return () => removeEventListener(CHANGED, changed);
};
export const useLetters = () => useSyncExternalStore(subscribe, letters);

/** Places that take letters for themselves: fields, lists that are open, and what is in a dialog. */
const TYPING =
  'input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=combobox]';

/** Whether a key of one letter belongs to the page, not to what has the keyboard. */
export const isFree = (e: KeyboardEvent) =>
  letters() &&
  !e.defaultPrevented &&
  !e.ctrlKey &&
  !e.metaKey &&
  !e.altKey &&
  !e.isComposing &&
  !(e.target instanceof Element && e.target.closest(TYPING)) &&
  !document.querySelector('[role=dialog]');

function deedOf(e: KeyboardEvent): Deed | undefined {
  if ((mac ? e.metaKey : e.ctrlKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === 'k') return 'palette';
  if (!isFree(e)) return undefined;
  return e.key === 'F2' ? 'rename' : PLAIN[e.key];
}

/** Does what a key stands for. A deed that is missing now has no key. */
export function useKeys(deeds: Partial<Record<Deed, () => void>>) {
  const press = useEffectEvent((e: KeyboardEvent) => {
    const deed = deedOf(e),
      run = deed && deeds[deed];
    if (!run) return;
    e.preventDefault();
    run();
  });
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => press(e);
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** Opens the session above or below the one that is shown, in the order of the list. */
export function step(by: 1 | -1) {
  const all = [...document.querySelectorAll<HTMLElement>('[data-session]')],
    at = all.findIndex(e => e.getAttribute('aria-current') === 'page');
  all[at < 0 ? 0 : at + by]?.click();
}
