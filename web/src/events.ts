// The events of a session: GET /api/sessions/ID/events.
import { useEffect, useRef } from 'react';
import { at } from './api';
import { useStream } from './stream';

export interface Turn { turn: string; state: 'queued' | 'running' | 'paused' | 'ended'; message_id?: string }

export type News =
  | { type: 'session'; title?: string; turns: Turn[]; reset?: boolean }
  | { type: 'turn' } & Turn
  | { type: 'history'; to: string }
  | { type: 'title'; title: string }
  | { type: 'deleted' };

/**
 * Calls told for each event of the session. While the tab reads an answer (busy), that stream has the place of this one among
 * the connections, and this one goes on from its mark later. opened is called when the connection is there.
 */
export function useEvents(id: string | null, busy: boolean, told: (news: News) => void, opened: () => void) {
  const mark = useRef('');
  useEffect(() => { mark.current = ''; }, [id]);
  useStream(busy ? null : id, () => `${at(id!)}/events${mark.current && `?after=${mark.current}`}`, e => {
    mark.current = e.lastEventId || mark.current;
    const news = JSON.parse(e.data) as News;
    told(news);
    return news.type !== 'deleted';
  }, opened);
}
