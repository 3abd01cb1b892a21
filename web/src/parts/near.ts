import { useEffect, useState, type RefObject } from 'react';

const REACH = '1000px'; // about a window above and below
const calls = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

function watcher(): IntersectionObserver {
  return (observer ??= new IntersectionObserver(
    entries => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) calls.get(target)?.();
    },
    { rootMargin: REACH, scrollMargin: REACH },
  ));
}

/** Whether a reader has been near the element. Work on everything that is far away would hold up what the reader does. */
export function useNear(ref: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (near || !element) return;
    calls.set(element, () => setNear(true));
    watcher().observe(element);
    return () => watcher().unobserve(element);
  }, [ref, near]);
  return near;
}
