import { useLayoutEffect, type RefObject } from 'react';

/** Makes a text area as high as its text, up to a number of pixels. */
export function useHeight(areaRef: RefObject<HTMLTextAreaElement | null>, text: string, most: number) {
  useLayoutEffect(() => {
    const el = areaRef.current;
    if (!el) return;
    el.style.height = 'auto';
    el.style.height = `${Math.min(el.scrollHeight, most)}px`;
  }, [areaRef, text, most]);
}
