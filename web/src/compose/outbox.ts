// Prompts on their way to the gateway. The browser keeps a prompt until the gateway has it, because the page may be closed or loaded again meanwhile.
import { useEffect, useRef } from 'react';
import type { UIMessage } from 'ai';
import { keep, load, type Attachment } from './attachments';
import type { Comment } from './comments';
import { Kept } from './kept';

/** What a person has written. */
export interface Written {
  text: string;
  files: Attachment[];
  comments: Comment[];
}

interface Outgoing {
  message: string;
  text: string;
  comments: Comment[];
}

const NONE: Outgoing[] = [];
const outgoing = new Kept<Outgoing[]>('outgoing', NONE, list => list.length === 0);
const filesKey = (message: string) => `outgoing:${message}`;

// While a page is unloaded, its requests fail, and the page cannot write files any more. The next page sees what became of the prompts.
let leaving = false;
addEventListener('pagehide', () => {
  leaving = true;
});
addEventListener('pageshow', () => {
  leaving = false;
});
export const isLeaving = () => leaving;

/** Keeps the prompt that goes out as this message of the session. */
export function put(session: string, message: string, { text, files, comments }: Written) {
  outgoing.set(session, list => [...list, { message, text, comments }]);
  if (files.length) void keep(filesKey(message), files);
}

/** The gateway has the message, or its prompt is a draft again. */
export function remove(session: string, message: string) {
  if (leaving) return;
  outgoing.set(session, list => list.filter(o => o.message !== message));
  void keep(filesKey(message), []);
}

/** Gives back the prompts that an earlier page has sent, but for those that the history has. */
export function useOutbox(session: string, messages: UIMessage[], loading: boolean, giveBack: (written: Written) => void) {
  const left = useRef(outgoing.get(session));
  useEffect(() => {
    if (loading) return;
    for (const { message, text, comments } of left.current) {
      const taken = messages.some(m => m.id === message);
      void load(filesKey(message)).then(files => {
        if (!taken) giveBack({ text, files, comments });
        remove(session, message);
      });
    }
    left.current = NONE;
  }, [session, messages, loading, giveBack]);
}
