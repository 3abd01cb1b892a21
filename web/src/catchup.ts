// Shows what another tab or another person does here: no stream of this tab's own tells of it.
import { useEffect, useRef, useState } from 'react';
import type { UIMessage } from 'ai';
import { useEvents, type News, type Turn } from './events';
import type { History } from './history';

interface Chat { messages: UIMessage[]; error: Error | undefined; resumeStream: () => Promise<void>; clearError: () => void }

/** A turn of this tab's own ends on its stream and among the events at about the same time. */
const MOMENT = 150;

/** Reads the history again, and resumes, when turns were told of that this tab has not followed. id is null while there is no session. */
export function useCatchUp(chat: Chat, history: History, id: string | null, busy: boolean) {
  const told = useRef(new Map<string, Turn & { answered?: boolean }>()), waits = useRef(new Set<string>()), lost = useRef(false), looking = useRef(false);
  const now = useRef({ chat, history, busy });
  useEffect(() => { now.current = { chat, history, busy }; });
  const [news, setNews] = useState(0);

  useEvents(id, busy, (n: News) => {
    if (n.type === 'session') lost.current = true; // how it stands: now, or since what is not known
    for (const t of n.type === 'session' ? n.turns : n.type === 'turn' ? [n] : []) {
      // What was on screen where a turn waited is not all of it once somebody has answered.
      told.current.set(t.turn, { ...t, answered: waits.current.has(t.turn) || told.current.get(t.turn)?.answered });
      if (t.state === 'paused') waits.current.add(t.turn); else waits.current.delete(t.turn);
    }
    setNews(k => k + 1);
  }, () => {
    if (!(now.current.chat.error instanceof TypeError)) return;
    lost.current = true; // so was a request of this tab's own
    setNews(k => k + 1);
  });

  useEffect(() => {
    if (id === null || busy || news === 0) return;
    const look = async () => {
      if (looking.current) return; // its end looks again
      const { messages, error } = now.current.chat;
      const shown = (t: Turn & { answered?: boolean }) => (t.state === 'ended' || t.state === 'paused') && !t.answered && !error && messages.some(m => m.id === t.message_id);
      for (const t of [...told.current.values()]) if (shown(t)) told.current.delete(t.turn);
      const missed = [...told.current.values()];
      if (!missed.length && !lost.current) return;
      looking.current = true;
      try {
        const show = await now.current.history.newest();
        if (now.current.busy) return; // a message was sent meanwhile: it must stay
        lost.current = false;
        for (const t of missed) if (told.current.get(t.turn) === t) told.current.delete(t.turn);
        show();
        if (now.current.chat.error instanceof TypeError) now.current.chat.clearError(); // the connection is back
        if (missed.some(t => t.state === 'running')) await now.current.chat.resumeStream();
        setNews(k => k + 1);
      } finally { looking.current = false; }
    };
    const timer = setTimeout(() => { look().catch(() => { /* the list says what is wrong; the next event tries again */ }); }, MOMENT);
    return () => clearTimeout(timer);
  }, [id, busy, news]);
}
