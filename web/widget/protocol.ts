// The words between the loader in the host's page and the page in the frame. Both sides check the window and the origin of each message.

export interface Theme {
  accent?: string;
  radius?: string;
  font?: string;
  colorScheme?: 'light' | 'dark' | 'auto';
}

/** The conversation that a person had last. */
export interface Last {
  user: string;
  session: string;
}

/** What the conversation is, and how it looks. */
export interface Start {
  agent?: string;
  session?: string;
  title?: string;
  theme?: Theme;
}

export type ToFrame =
  | { type: 'start'; start: Start; last?: Last }
  | { type: 'shown'; open: boolean; focus: boolean }
  | { type: 'token'; ask: number; token?: string; problem?: string };

export type ToHost =
  | { type: 'hello' }
  | { type: 'token'; ask: number }
  | { type: 'unread'; count: number }
  | { type: 'begun'; last: Last }
  | { type: 'close' };

/** Marks our messages among those of others, with the version of these words. */
const MARK = 'tributary',
  VERSION = 1;

export function post(to: Window, origin: string, message: ToFrame | ToHost) {
  to.postMessage({ ...message, [MARK]: VERSION }, origin);
}

/** A message of ours, if the window sent it from the origin; null otherwise. A message of ours from elsewhere is refused aloud. */
export function received<T extends ToFrame | ToHost>(event: MessageEvent, from: Window | null | undefined, origin: string): T | null {
  const data: unknown = event.data;
  if (!data || typeof data !== 'object' || (data as Record<string, unknown>)[MARK] !== VERSION) return null;
  if (event.source === from && event.origin === origin) return data as T;
  console.warn(`Tributary: a message from ${event.origin} was refused, because only ${origin} may send it.`);
  return null;
}
