// The data that all parts of a conversation share.
import { createContext, useContext, type ReactNode } from 'react';
import type { UIMessage } from 'ai';
import type { Answer, PendingRequest, Score } from '@tributary/chat';
import type { Decision } from './decisions';

export interface Shared {
  /** The requests that wait, by their ids, as soon as all is known about them. */
  requests: ReadonlyMap<string, PendingRequest>;
  decisions: ReadonlyMap<string, Decision>;
  /** What graders found, by the messages that it stands below. */
  scores: ReadonlyMap<string, Score[]>;
  give: (request: PendingRequest, answer: Answer) => Promise<void>;
  /** The buttons of a message: edit, regenerate and the like. */
  actions?: (message: UIMessage, last: boolean) => ReactNode;
  /** Runs the prompt of a failed message again. */
  retry: (message: UIMessage) => void;
}

export const SharedContext = createContext<Shared | null>(null);

export function useShared(): Shared {
  const shared = useContext(SharedContext);
  if (!shared) throw new Error('a part of a message stands outside a conversation');
  return shared;
}
