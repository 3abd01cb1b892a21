// A stream of server-sent events that comes back by itself.
import { EventSource } from 'eventsource'; // the browser's own cannot send a header
import { useEffect, useRef, useState } from 'react';
import { ask } from './signin';

const FIRST = 1000, LONGEST = 30_000;

/**
 * Reads the stream at an address while the page is seen, and calls take for each event until that returns false. address is
 * asked before each try; key names the stream, null: none. opened is called when the stream is there. Returns whether the connection is away. A hidden tab lets go of the
 * stream: it would keep one of the six connections that a browser has for one origin.
 */
export function useStream(key: string | null, address: () => string, take: (event: MessageEvent<string>) => boolean, opened?: () => void): boolean {
  const now = useRef({ address, take, opened });
  useEffect(() => { now.current = { address, take, opened }; });
  const [away, setAway] = useState(false);
  useEffect(() => {
    if (key === null) return;
    let source: EventSource | null = null, timer = 0, tries = 0, over = false;
    const shut = () => { clearTimeout(timer); source?.close(); source = null; };
    const open = () => {
      shut();
      if (over || document.visibilityState !== 'visible') return;
      source = new EventSource(new URL(now.current.address(), location.href), { fetch: ask });
      source.onopen = () => { setAway(false); now.current.opened?.(); };
      source.onmessage = (e: MessageEvent<string>) => {
        tries = 0;
        over = !now.current.take(e);
        if (over) shut();
      };
      source.onerror = () => {
        shut();
        setAway(true);
        const wait = Math.min(LONGEST, FIRST * 2 ** tries++);
        timer = window.setTimeout(open, wait * (0.5 + Math.random() / 2)); // not all pages at once after a restart
      };
    };
    const seen = () => { tries = 0; open(); };
    open();
    document.addEventListener('visibilitychange', seen);
    window.addEventListener('online', seen);
    return () => {
      shut();
      setAway(false);
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('online', seen);
    };
  }, [key]);
  return away;
}
