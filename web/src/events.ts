// What happens to a session without this tab: GET /api/sessions/ID/events.
import { useEffect, useRef } from 'react';
import { at } from './api';

export interface Turn { turn: string; state: 'queued' | 'running' | 'paused' | 'ended'; message_id?: string }

export type News =
  | { type: 'session'; title?: string; turns: Turn[]; reset?: boolean }
  | { type: 'turn' } & Turn
  | { type: 'history'; to: string }
  | { type: 'title'; title: string }
  | { type: 'deleted' };

const AGAIN = 5000;

/** Calls told for each event of the session while the page is seen. A hidden tab would keep one of the six connections that a browser has for one origin. */
export function useEvents(id: string | null, told: (news: News) => void) {
  const tell = useRef(told);
  useEffect(() => { tell.current = told; });
  useEffect(() => {
    if (id === null) return;
    let source: EventSource | null = null, mark = '', timer = 0;
    const shut = () => { clearTimeout(timer); source?.close(); source = null; };
    const open = () => {
      shut();
      if (document.visibilityState !== 'visible') return;
      const opened = source = new EventSource(`${at(id)}/events${mark && `?after=${mark}`}`);
      opened.onmessage = e => {
        mark = e.lastEventId;
        const news = JSON.parse(e.data as string) as News;
        if (news.type === 'deleted') shut();
        tell.current(news);
      };
      // It comes back by itself where the connection was lost, and gives up where it was refused.
      opened.onerror = () => { if (opened.readyState === EventSource.CLOSED) timer = window.setTimeout(open, AGAIN); };
    };
    open();
    document.addEventListener('visibilitychange', open);
    return () => { shut(); document.removeEventListener('visibilitychange', open); };
  }, [id]);
}
