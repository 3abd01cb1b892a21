// A long conversation comes in pages: the newest first, the ones before it when they are asked for.
import { useCallback, useRef, useState } from 'react';
import type { UIMessage } from 'ai';
import { history, type Page } from './api';

interface Chat { messages: UIMessage[]; setMessages: (next: (now: UIMessage[]) => UIMessage[]) => void }

/** Where the newest page begins among what is on screen; 0 when what is above it belongs to it no longer. */
const begins = (screen: UIMessage[], page: UIMessage[]) => Math.max(0, screen.findIndex(m => m.id === page[0]?.id));

export interface History {
  /** Whether there is more above. */
  more: boolean;
  /** Puts the page before what is on screen above it. */
  older: () => Promise<void>;
  /** Reads the newest page; show puts it on screen, below the pages that are above it. */
  newest: () => Promise<() => void>;
}

export function useHistory(id: string, chat: Chat, first: Page): History {
  const [before, setBefore] = useState(first.before);
  const screen = useRef(chat.messages);
  screen.current = chat.messages;
  const { setMessages } = chat;
  const older = useCallback(async () => {
    if (before === null) return;
    const page = await history(id, before);
    setMessages(now => [...page.messages, ...now]);
    setBefore(page.before);
  }, [id, before, setMessages]);
  const newest = useCallback(async () => {
    const page = await history(id);
    return () => {
      if (begins(screen.current, page.messages) === 0) setBefore(page.before);
      setMessages(now => [...now.slice(0, begins(now, page.messages)), ...page.messages]);
    };
  }, [id, setMessages]);
  return { more: before !== null, older, newest };
}
