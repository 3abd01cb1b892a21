// A chat that opens by itself must not take the focus from the host. The composer takes the focus when it appears, unless it is inert.
import { useEffect, useState } from 'react';

/** The composer asks for the focus within this time. */
const MOMENT = 300;

/** Whether the conversation is inert. It is so until a person has asked for the chat, or until the composer has appeared. */
export function useCalm() {
  const [calm, setCalm] = useState(true);
  useEffect(() => {
    if (!calm) return;
    let timer = 0;
    const look = new MutationObserver(() => {
      if (!document.querySelector('textarea')) return;
      look.disconnect();
      timer = window.setTimeout(() => setCalm(false), MOMENT);
    });
    look.observe(document.body, { childList: true, subtree: true });
    return () => {
      look.disconnect();
      clearTimeout(timer);
    };
  }, [calm]);
  return [calm, setCalm] as const;
}
