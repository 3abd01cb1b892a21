// The prompts that wait in a session, and the messages for the turn that runs.
import { useCallback, useEffect, useRef, useState } from 'react';
import type { QueuedPrompt } from '@tributary/chat';
import type { UIMessage } from 'ai';
import { at, call, reach, transport, type Session } from '../api/api';

export type Queued = QueuedPrompt;

const place = (id: string, turn: string) => `${at(id)}/queue/${encodeURIComponent(turn)}`;

/** Puts a prompt behind the turn that runs, and that this page reads. */
export const enqueue = (id: string, message: UIMessage) => reach(transport.enqueue(id, message));

export const steer = async (id: string, text: string) => {
  await call('POST', `/api/chat/${encodeURIComponent(id)}/steer`, { text });
};

export interface Queue {
  list: Queued[];
  refresh: () => Promise<void>;
  edit: (turn: string, text: string) => Promise<void>;
  remove: (turn: string) => Promise<void>;
  promote: (turn: string) => Promise<void>;
  /** Lets the held prompts run. */
  goOn: () => Promise<void>;
  /** Removes all prompts that this person may remove. */
  clear: () => Promise<void>;
}

const NONE: Queued[] = [];

/** The messages without the prompts that wait: the queue shows these. */
export function withoutWaiting(messages: UIMessage[], queue: Queued[]): UIMessage[] {
  const waiting = new Set(queue.map(q => q.message_id));
  return waiting.size ? messages.filter(m => !waiting.has(m.id)) : messages;
}

/**
 * The queue of a session, in the order of the gateway. The pushed session says when prompts come, begin and are held. While some wait,
 * the session's events say what else happens to them.
 */
export function useQueue(id: string, session: Session | undefined, busy: boolean): Queue {
  const [list, setList] = useState(NONE);
  const asked = useRef(0);
  const refresh = useCallback(async () => {
    const number = ++asked.current;
    const queue = await reach(transport.queue(id));
    if (number === asked.current) setList(queue.length ? queue : NONE); // an older answer comes too late
  }, [id]);
  const some = list !== NONE,
    open = busy || (session !== undefined && (session.state !== 'idle' || session.held !== undefined)) || some;
  const changed = `${session?.updated_at} ${session?.state} ${session?.turn}`,
    begun = session !== undefined;
  useEffect(() => {
    if (open && begun)
      refresh().catch(() => {
        /* the list of sessions says that the gateway is away; its next event tries again */
      });
  }, [open, changed, busy, begun, refresh]);
  const again = useCallback(() => {
    refresh().catch(() => {
      /* as above */
    });
  }, [refresh]);
  useEffect(() => {
    if (!some) return;
    const end = new AbortController();
    const watch = async () => {
      for await (const { type } of transport.events(id, {
        signal: end.signal,
        onConnection: there => {
          if (there) again();
        },
      }))
        if (type === 'turn' || type === 'history') again();
    };
    watch().catch(() => {
      /* as above */
    });
    return () => end.abort();
  }, [id, some, again]);
  const then = async (done: Promise<unknown>) => {
    try {
      await done;
    } finally {
      await refresh();
    }
  };
  return {
    list,
    refresh,
    edit: (turn, text) => then(call('PATCH', place(id, turn), { text })),
    remove: turn => then(call('DELETE', place(id, turn))),
    promote: turn => then(call('POST', `${place(id, turn)}/promote`)),
    goOn: () => then(reach(transport.continueQueue(id))),
    clear: () => then(reach(transport.clearQueue(id))),
  };
}
