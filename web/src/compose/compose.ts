// All that a person can do to write in a session: the state behind the composer and behind the buttons of the messages.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { textOf, type Refused } from '@tributary/chat';
import type { TributaryChat } from '@tributary/chat/react';
import { generateId, type FileUIPart, type UIMessage } from 'ai';
import { said, type Session } from '../api/api';
import type { Acting } from './actions';
import { add, MOST_BYTES, room, size, useAttachments } from './attachments';
import { useComments, withComments } from './comments';
import { commandsIn, useControls } from './controls';
import { NEW, useDraft } from './drafts';
import { parts as filesOf } from './encode';
import * as outbox from './outbox';
import { ownPrompts, remember } from './prompts';
import { enqueue, steer, type Queue } from './queue';
import { useStop } from './stop';

interface Place {
  id: string;
  /** Whether the session has begun, so that its draft is its own. */
  known: boolean;
  /** The agent that was chosen for a new session; empty: the default one. */
  agent: string;
  session: Session | undefined;
  chat: TributaryChat<UIMessage>;
  /** The prompts that wait. */
  queue: Queue;
  /** The turn waits for an answer of a person. */
  paused: boolean;
  /** Calls take with each prompt that the gateway did not take, until the function that is returned is called. */
  onRefused: (take: (refused: Refused<UIMessage>) => void) => () => void;
  /** Called before a prompt goes out: the conversation follows it, and the page has its address. */
  onSend: () => void;
  /** Called before a turn is stopped: the button with the focus may go. */
  onStop: () => void;
  /** Shows a sentence, or removes the one that is shown. */
  tell: (sentence: string | null) => void;
}

export type Compose = ReturnType<typeof useCompose>;

export function useCompose({ id, known, agent, session, chat, queue, paused, onRefused, onSend, onStop, tell }: Place) {
  const [begun, setBegun] = useState(false);
  const key = known || session || begun ? id : NEW;
  const [text, setText] = useDraft(key);
  const [files, setFiles] = useAttachments(key);
  const [comments, setComments] = useComments(key);
  const [sending, setSending] = useState(false);
  const [editing, setEditing] = useState<{ id: string; text: string } | null>(null);
  const busy = chat.status === 'submitted' || chat.status === 'streaming';
  const controls = useControls(id, session, agent, chat.status);
  const { stop, stopping } = useStop({ chat, onStop, tell });

  const giveBack = useCallback(
    (was: outbox.Written) => {
      if (outbox.isLeaving()) return;
      setText(draft => [was.text, draft].filter(Boolean).join('\n\n'));
      setFiles(list => [...was.files, ...list.filter(a => !was.files.some(o => o.id === a.id))]);
      setComments(list => [...was.comments, ...list.filter(c => !was.comments.some(o => o.id === c.id))]);
    },
    [setText, setFiles, setComments],
  );

  // A prompt that the gateway did not take becomes a draft again, unless the history has the prompt after all.
  const sent = useRef<outbox.Written | null>(null);
  useEffect(
    () =>
      onRefused(({ message, messageId, taken }) => {
        if (messageId !== undefined) return setEditing({ id: messageId, text: textOf(message) });
        const was = sent.current ?? { text: textOf(message), files: [], comments: [] };
        giveBack(was);
        void taken.then(() => setText(draft => (draft === was.text ? '' : draft)));
      }),
    [onRefused, giveBack, setText],
  );
  outbox.useOutbox(id, chat.messages, chat.loading, giveBack);

  const attach = (chosen: File[]) => {
    tell(null);
    setFiles(list => {
      const { list: next, problem } = add(list, chosen);
      if (problem) tell(problem);
      return next;
    });
  };

  /** Takes the draft, and hands it to a way of sending, as a message with this id. A draft that does not go out comes back. */
  const take = async (go: (prompt: string, files: FileUIPart[], message: string) => Promise<void>) => {
    const was: outbox.Written = { text: text.trim(), files, comments },
      prompt = withComments(was.comments, was.text);
    if (sending || (!prompt && !was.files.length)) return;
    if (prompt.length * 3 > 32 << 10 && new TextEncoder().encode(prompt).length > room(was.files) + (32 << 10)) {
      tell(`This message has more than ${size(MOST_BYTES)}: send a part of it, or fewer files.`);
      return;
    }
    tell(null);
    setSending(true);
    try {
      const encoded = await filesOf(was.files);
      const message = generateId();
      sent.current = was;
      outbox.put(id, message, was);
      setText(() => '');
      setFiles(() => []);
      setComments(() => []);
      setBegun(true);
      try {
        await go(prompt, encoded, message);
      } catch (e) {
        giveBack(was);
        outbox.remove(id, message);
        throw e;
      }
      remember(id, was.text);
    } catch (e) {
      tell(said(e as Error));
    } finally {
      setSending(false);
    }
  };

  const send = () =>
    take(async (prompt, encoded, message) => {
      const parts: UIMessage['parts'] = [...encoded, ...(prompt ? [{ type: 'text' as const, text: prompt }] : [])];
      if (busy && !paused) {
        await enqueue(id, { id: message, role: 'user', parts });
        outbox.remove(id, message);
        queue.refresh().catch(() => {
          /* the gateway has the prompt; the next event shows it */
        });
        return;
      }
      onSend();
      void chat.sendMessage({ id: message, parts }).finally(() => outbox.remove(id, message)); // at the end of the turn, or when the prompt is a draft again
    });

  const { conversation, sendMessage, regenerate } = chat;
  const writes = controls.blocked === null;
  // The buttons of all messages share this value: it stays the same while an answer is being written.
  const acting = useMemo((): Acting => {
    const all = () => conversation.chat.messages; // as they are when a button is pressed
    return {
      editing,
      setEditing,
      writes,
      edit: async (message, next) => {
        tell(null);
        setEditing(null);
        onSend();
        await sendMessage({ text: next, files: message.parts.filter(p => p.type === 'file'), messageId: message.id });
      },
      regenerate: async message => {
        tell(null);
        onSend();
        // Without an id the gateway refuses a page that does not know the newest messages, and removes none of them.
        await regenerate(all().at(-1)?.id === message.id ? {} : { messageId: message.id });
      },
      after: message => all().length - 1 - all().findIndex(m => m.id === message.id),
    };
  }, [editing, writes, conversation, sendMessage, regenerate, onSend, tell]);

  return {
    id,
    session,
    busy,
    paused,
    running: busy && !paused,
    sending,
    stopping,
    stop,
    queue,
    controls,
    tell,
    acting,
    text,
    setText,
    files,
    setFiles,
    attach,
    comments,
    setComments,
    send,
    own: () => ownPrompts(id, chat.messages),
    commands: () => (controls.commands.length ? controls.commands : commandsIn(chat.messages)),
    /** Puts the draft into the turn that runs. */
    steer: () =>
      take(async (prompt, _, message) => {
        await steer(id, prompt);
        outbox.remove(id, message);
      }),
  };
}
