// A stream of events that comes back by itself.
import { isUnknown, networkError, passes, TributaryError } from './errors.js';
import type { Gateway } from './gateway.js';
import { serverEvents } from './sse.js';

const FIRST = 1000,
  LONGEST = 30_000;

export interface FollowOptions {
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called when the connection is there (true), and when it is lost and tried again (false). problem: why, if that is known. */
  onConnection?: (connected: boolean, problem?: Error) => void;
  /** Whether a hidden tab keeps the connection, for example for notifications. Left out: it lets go of the connection. */
  background?: () => boolean;
  /** A refusal with the status 401 is tried again too: a person may sign in again in another tab. */
  persists?: boolean;
}

/**
 * Yields the events of a stream until its address refuses them for good, which throws. After a lost connection the stream goes on
 * behind the last mark. address makes the address for a mark; ends says which event is the last one. A hidden tab lets go of the
 * connection, because browsers have six of them for one origin.
 */
export async function* follow<T extends { type?: string }>(
  gateway: Gateway,
  address: (mark: string) => string,
  after: string,
  ends: (event: T) => boolean,
  { signal, onConnection, background, persists }: FollowOptions,
): AsyncGenerator<T & { mark: string }, void, undefined> {
  let mark = after,
    tries = 0;
  const away = () => hidden() && !background?.();
  while (!signal?.aborted) {
    if (away()) await waiting(gateway, undefined, signal, () => !away());
    if (signal?.aborted) return;
    const attempt = new AbortController(),
      stop = () => attempt.abort();
    const unwatch = watch(() => {
      if (away()) stop();
    });
    signal?.addEventListener('abort', stop);
    let wait: number | undefined, problem: Error | undefined;
    try {
      const response = await gateway.fetch(address(mark), { headers: { accept: 'text/event-stream' }, signal: attempt.signal });
      if (!response.body) throw networkError();
      onConnection?.(true);
      for await (const { id, data } of serverEvents(response.body)) {
        const event = JSON.parse(data) as T & { error?: string; code?: string };
        if (event.type === undefined && event.error !== undefined) {
          // the last one: the person may read no more
          if (event.code !== 'token_expired' || !gateway.renews) throw new TributaryError(event.error, 401, event.code);
          gateway.renew();
          wait = 0;
          continue;
        }
        tries = 0;
        mark = id || mark;
        yield { ...event, mark };
        if (ends(event)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!attempt.signal.aborted && !passes(error) && !(error instanceof TypeError) && !(persists && isUnknown(error))) throw error;
      problem = error as Error;
      if (error instanceof TributaryError && error.retryAfter) wait = error.retryAfter * 1000;
    } finally {
      unwatch();
      signal?.removeEventListener('abort', stop);
      attempt.abort();
    }
    if (signal?.aborted || away()) continue; // let go of on purpose
    onConnection?.(false, problem);
    const pause = wait ?? Math.min(LONGEST, FIRST * 2 ** tries) * (0.5 + Math.random() / 2);
    await waiting(gateway, pause, signal, () => true); // not all pages at once after a restart
    tries++;
  }
}

const hidden = () => typeof document !== 'undefined' && document.visibilityState === 'hidden';

/** Calls changed when the tab is hidden or shown, until the result is called. */
function watch(changed: () => void) {
  if (typeof document === 'undefined')
    return () => {
      /* no tab */
    };
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}

/** Waits, but no longer than until the network or the person is back, or the app wants another try, and that is enough. */
function waiting(gateway: Gateway, ms: number | undefined, signal: AbortSignal | undefined, enough: () => boolean) {
  return new Promise<void>(resolve => {
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    const tab = typeof document === 'undefined' ? undefined : document,
      page = typeof window === 'undefined' ? undefined : window;
    const back = () => {
      if (enough()) end();
    };
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      tab?.removeEventListener('visibilitychange', back);
      page?.removeEventListener('online', back);
      off();
      resolve();
    }
    signal?.addEventListener('abort', end);
    tab?.addEventListener('visibilitychange', back);
    page?.addEventListener('online', back);
    const off = gateway.onRetry(back);
  });
}
