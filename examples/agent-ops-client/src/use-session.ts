import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { State } from './frames';
import { reading, sessionStore } from './session-store';

/** A part of the state of a session, by its socket. */
export function useSession<T>(id: string, pick: (state: State) => T): T {
  useEffect(() => reading(id), [id]);
  return useStore(sessionStore(id), pick);
}
