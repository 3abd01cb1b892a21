import { useCallback, useEffect, useRef, useState } from 'react';
import type { Refused } from '@tributary/chat';
import { endConversations, useTributaryChat } from '@tributary/chat/react';
import type { UIMessage } from 'ai';
import { said, transport, type Session } from '../api/api';
import { Chat } from './chat';

/** before: runs before the first prompt of a new session goes out. onExport: exports the turn of a message; without it there are no scores either. */
interface Props {
  id: string;
  known: boolean;
  agent: string;
  session: Session | undefined;
  before?: () => Promise<void>;
  onExport?: (message: string) => void;
}

/** How often at most the page draws an answer that is being written, in milliseconds. */
const FRAME = 40;

/** What a data part of the agent says about what it does right now, if it says so. */
function doing(data: unknown): string | null {
  if (!data || typeof data !== 'object') return null;
  const { status, detail } = data as { status?: unknown; detail?: unknown };
  const words = [status, detail]
    .filter((x): x is string => typeof x === 'string' && x !== '')
    .join(': ')
    .replaceAll('_', ' ');
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : null;
}

/** Loads the history first: the chat then starts from it. */
export function Conversation({ id, known, agent, session, before, onExport }: Props) {
  // Only what the first screen knew counts: a new chat that gets its address by its first prompt stays.
  const [asked] = useState(known);
  const [detail, setDetail] = useState<string | null>(null);
  const writer = useRef<((refused: Refused<UIMessage>) => void) | null>(null); // whoever has the draft now
  const onRefused = useCallback((take: (refused: Refused<UIMessage>) => void) => {
    writer.current = take;
    return () => {
      writer.current = null;
    };
  }, []);
  const chat = useTributaryChat<UIMessage>({
    id,
    transport,
    agent: agent || undefined,
    fresh: !asked,
    throttle: FRAME,
    onBegin: async () => {
      await before?.();
    },
    onRefused: what => writer.current?.(what),
    onData: part => {
      if (/status/.test(part.type)) setDetail(doing(part.data));
    },
    onFinish: () => setDetail(null),
  });
  useEffect(
    () => () => {
      void endConversations(transport, id);
    },
    [id],
  ); // a tab has few connections
  const {
    missing,
    conversation: {
      refresh,
      state: { problem },
    },
  } = chat;
  useEffect(() => {
    if (session && missing && asked) refresh();
  }, [session, missing, asked, refresh]); // somebody has begun it
  const [there, setThere] = useState(false); // once the history was there, problems pass by themselves
  if (!there && !chat.loading && !problem) setThere(true);
  if (there)
    return (
      <Chat id={id} agent={agent} session={session} known={asked} chat={chat} detail={detail} onRefused={onRefused} onExport={onExport} />
    );
  if (chat.connected && !problem) return <div className="scroll quiet" aria-busy="true" />;
  return (
    <div className="scroll">
      <div className="banner" role="alert">
        <span>{problem ? said(problem) : 'The gateway cannot be reached.'}</span>
        <button type="button" className="btn small" onClick={chat.reload}>
          Try again
        </button>
      </div>
    </div>
  );
}
