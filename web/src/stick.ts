// Keeps the end of the conversation in sight, unless the reader has scrolled up.
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';

/** Keeps the end of the conversation in view while the reader is there. changes and more: what makes the conversation longer. */
export function useStick(changes: unknown, more: unknown) {
  const box = useRef<HTMLDivElement>(null), end = useRef<HTMLDivElement>(null), stuck = useRef(true);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const look = () => { stuck.current = el.scrollHeight - el.scrollTop - el.clientHeight < 80; };
    el.addEventListener('scroll', look, { passive: true });
    return () => el.removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => { if (stuck.current) end.current?.scrollIntoView({ block: 'end' }); }, [changes, more]);
  const follow = useCallback(() => { stuck.current = true; }, []);
  return { box, end, follow };
}
