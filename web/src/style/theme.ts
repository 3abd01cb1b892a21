// The theme: that of the system, unless a person chose one. public/theme.js sets it before the first paint.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'tributary-theme',
  CHANGED = 'tributary-theme';

const read = (): Theme => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
};

export function setTheme(theme: Theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* it lasts as long as the page */
  }
  dispatchEvent(new Event(CHANGED));
}

/** Another tab has chosen. */
addEventListener('storage', e => {
  if (e.key === KEY && e.newValue !== read()) setTheme((e.newValue ?? 'system') as Theme);
});

function subscribe(changed: () => void) {
  addEventListener(CHANGED, changed);
  return () => removeEventListener(CHANGED, changed);
}

export const useTheme = () => useSyncExternalStore(subscribe, read);
