// Where the conversation stands: at its live edge, or where a reader has scrolled to.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** A reader this near to the end is at the end. */
const NEAR = 24;

/** The distance from which on a button leads back to the end. */
const FAR = 240;

/**
 * Follows the live edge while the reader is there, and never pulls a reader back who has scrolled up. live: more is coming.
 * changes: makes the conversation longer. follow leads to the end, and stays there.
 */
export function useScroll(changes: unknown, live: boolean) {
  const box = useRef<HTMLDivElement>(null),
    page = useRef<HTMLDivElement>(null);
  const stuck = useRef(true),
    seen = useRef({ top: 0, height: 0 }),
    following = useRef(live);
  const [far, setFar] = useState(false);
  const toEnd = useCallback(() => {
    const el = box.current;
    if (!el) return;
    el.scrollTop = el.scrollHeight;
    seen.current = { top: el.scrollTop, height: el.scrollHeight }; // a reader may scroll before the event of this comes
  }, []);
  /** Lets a reader go who has scrolled up. A page that gets shorter moves the place by itself, which does not count. */
  const letGo = useCallback((el: HTMLElement) => {
    if (el.scrollTop < seen.current.top && el.scrollHeight >= seen.current.height) stuck.current = false;
  }, []);
  /** Leads to the end as long as the reader is there: more may come before the event of their scroll does. */
  const stay = useCallback(() => {
    if (box.current) letGo(box.current);
    if (stuck.current) toEnd();
  }, [letGo, toEnd]);

  useEffect(() => {
    const el = box.current,
      all = page.current;
    if (!el || !all) return;
    const look = () => {
      const left = el.scrollHeight - el.scrollTop - el.clientHeight;
      letGo(el);
      if (left < NEAR) stuck.current = true;
      seen.current = { top: el.scrollTop, height: el.scrollHeight };
      setFar(left > FAR);
    };
    // Pictures, colours and parts that open make the page longer without a change of the messages.
    const resized = new ResizeObserver(() => {
      if (following.current) stay();
      look();
    });
    resized.observe(all);
    resized.observe(el);
    el.addEventListener('scroll', look, { passive: true });
    return () => {
      resized.disconnect();
      el.removeEventListener('scroll', look);
    };
  }, [letGo, stay]);

  useLayoutEffect(() => {
    following.current = live;
  }, [live]);
  useLayoutEffect(() => {
    stay();
  }, [changes, stay]);
  const follow = useCallback(() => {
    stuck.current = true;
    toEnd();
  }, [toEnd]);
  return { box, page, far, follow };
}
