// The badge of the closed chat.
import { useEffect, useRef } from 'react';
import { tell } from './host';
import type { Session } from './page';

/** Tells the host how many turns ended or began to wait for the person since the chat was closed. */
export function useUnread(session: Session | undefined, open: boolean) {
  const state = session?.state,
    before = useRef(state),
    count = useRef(0);
  useEffect(() => {
    const was = before.current;
    before.current = state;
    if (open) count.current = 0;
    else if (was !== undefined && state !== was && state !== 'running') count.current++;
    else return;
    tell({ type: 'unread', count: count.current });
  }, [state, open]);
}
