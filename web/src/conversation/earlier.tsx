import { reach } from '../api/api';
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { TributaryChat } from '@tributary/chat/react';
import type { UIMessage } from 'ai';

/** The button above the first message. What the reader was looking at stays where it is when a page comes above it. */
export function Earlier({ chat, boxRef }: { chat: TributaryChat<UIMessage>; boxRef: RefObject<HTMLDivElement | null> }) {
  const [busy, setBusy] = useState(false),
    [problem, setProblem] = useState<string | null>(null);
  const mark = useRef<{ turn: Element; top: number } | null>(null); // the turn that was the first, and its place in the window
  useLayoutEffect(() => {
    const el = boxRef.current,
      was = mark.current;
    if (!el || !was || el.querySelector('.turn') === was.turn) return;
    mark.current = null;
    el.scrollTop += was.turn.getBoundingClientRect().top - was.top;
  }, [chat.messages, boxRef]);
  if (!chat.earlier) return null;
  const load = async () => {
    setBusy(true);
    setProblem(null);
    const turn = boxRef.current?.querySelector('.turn');
    try {
      await reach(
        chat.conversation.earlier({
          onArrival: () => {
            mark.current = turn ? { turn, top: turn.getBoundingClientRect().top } : null;
          },
        }),
      );
    } catch (e) {
      setProblem((e as Error).message);
    }
    setBusy(false);
  };
  return (
    <p className="earlier">
      <button type="button" className="btn small" disabled={busy} onClick={() => void load()}>
        {busy ? 'Loading…' : 'Earlier messages'}
      </button>
      {problem && <span role="alert">{problem}</span>}
    </p>
  );
}
