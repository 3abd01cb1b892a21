// Shows what another tab or another person does here: no stream of this tab's own tells of it.
import { useEffect, useRef, useState } from 'react';
import type { UIMessage } from 'ai';
import { history } from './api';
import { useEvents, type News, type Turn } from './events';

interface Chat { messages: UIMessage[]; error: Error | undefined; setMessages: (m: UIMessage[]) => void; resumeStream: () => Promise<void> }

/** A turn of this tab's own ends on its stream and among the events at about the same time. */
const MOMENT = 150;

/** Reads the history again, and resumes, when turns were told of that this tab has not followed. id is null while there is no session. */
export function useCatchUp(chat: Chat, id: string | null, busy: boolean, onActivity: () => void) {
  const told = useRef(new Map<string, Turn>()), lost = useRef(false), looking = useRef(false);
  const now = useRef({ chat, busy });
  useEffect(() => { now.current = { chat, busy }; });
  const [news, setNews] = useState(0);

  useEvents(id, (n: News) => {
    if (n.type === 'turn') told.current.set(n.turn, n);
    if (n.type === 'session') { // how it stands: now, or since what is not known
      lost.current = true;
      for (const t of n.turns) told.current.set(t.turn, t);
    }
    setNews(k => k + 1);
    onActivity();
  });

  useEffect(() => {
    if (id === null || busy || news === 0) return;
    const look = async () => {
      if (looking.current) return; // its end looks again
      const { messages, error } = now.current.chat;
      const shown = (t: Turn) => (t.state === 'ended' || t.state === 'parked') && !error && messages.some(m => m.id === t.message_id);
      for (const t of [...told.current.values()]) if (shown(t)) told.current.delete(t.turn);
      const missed = [...told.current.values()];
      if (!missed.length && !lost.current) return;
      looking.current = true;
      try {
        const all = await history(id);
        if (now.current.busy) return; // a message was sent meanwhile: it must stay
        lost.current = false;
        for (const t of missed) if (told.current.get(t.turn) === t) told.current.delete(t.turn);
        now.current.chat.setMessages(all);
        if (missed.some(t => t.state === 'running')) await now.current.chat.resumeStream();
        setNews(k => k + 1);
      } finally { looking.current = false; }
    };
    const timer = setTimeout(() => { look().catch(() => { /* the list says what is wrong; the next event tries again */ }); }, MOMENT);
    return () => clearTimeout(timer);
  }, [id, busy, news]);
}
