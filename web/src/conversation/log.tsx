import { memo, type ReactNode } from 'react';
import type { UIMessage } from 'ai';
import { Message } from './message';
import { turnsOf, type Turn } from './turns';

interface Props {
  messages: UIMessage[];
  live: boolean;
  open: boolean;
  /** The turn that begins at this message has the window to itself. */
  anchor: string | null;
  /** What stands below the last message. */
  tail: ReactNode;
}

/** The messages by turns. */
export const Log = memo(function Log({ messages, live, open, anchor, tail }: Props) {
  const turns = turnsOf(messages);
  return turns.map((turn, i) => {
    const last = i === turns.length - 1;
    return (
      <TurnView
        key={turn.key}
        turn={turn}
        last={last}
        live={live && last}
        open={open && last}
        anchored={last && turn.key === anchor}
        tail={last ? tail : null}
      />
    );
  });
});

interface TurnProps {
  turn: Turn;
  last: boolean;
  live: boolean;
  open: boolean;
  anchored: boolean;
  tail: ReactNode;
}

const TurnView = memo(function TurnView({ turn, last, live, open, anchored, tail }: TurnProps) {
  const end = turn.messages.length - 1;
  return (
    <section className={anchored ? 'turn anchored' : 'turn'}>
      {turn.messages.map((m, i) => {
        const now = last && i === end && m.role === 'assistant';
        return <Message key={m.id} message={m} live={live && now} open={open && now} last={now} />;
      })}
      {tail}
    </section>
  );
});
