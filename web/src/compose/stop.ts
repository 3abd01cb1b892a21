// The button that stops a turn.
import { useRef, useState } from 'react';
import { reach } from '../api/api';

interface Turn {
  chat: { stop: () => Promise<void> };
  onStop: () => void;
  tell: (sentence: string | null) => void;
}

/** Ends the turn that runs or waits. stopping is true from the click until the turn is over; further clicks do nothing. */
export function useStop({ chat, onStop, tell }: Turn) {
  const [stopping, setStopping] = useState(false);
  const under = useRef(false);
  const stop = async () => {
    if (under.current) return;
    under.current = true;
    setStopping(true);
    onStop();
    tell(null);
    try {
      await reach(chat.stop());
    } catch (e) {
      tell((e as Error).message);
    } finally {
      under.current = false;
      setStopping(false);
    }
  };
  return { stop, stopping };
}
