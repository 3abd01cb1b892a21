// A button that is pressed and then goes takes the keyboard's place with it.
import { useCallback, useEffect, useRef, type RefObject } from 'react';

/**
 * Returns what to call when a button is pressed that may go: if the focus is lost with it, the box has it next. A page without the focus
 * takes none: in a frame it would take it from the page around.
 */
export function useKeptFocus(box: RefObject<HTMLElement | null>): () => void {
  const pressed = useRef(false);
  useEffect(() => {
    if (!pressed.current || !document.hasFocus() || (document.activeElement && document.activeElement !== document.body)) return;
    pressed.current = false;
    box.current?.focus({ preventScroll: true });
  });
  return useCallback(() => {
    pressed.current = true;
  }, []);
}
