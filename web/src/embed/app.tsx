import { useCallback, useEffect, useState } from 'react';
import type { Last, Start } from '../../widget/protocol';
import { begin, type Begun } from './begin';
import { useCalm } from './calm';
import { listen, tell } from './host';
import { Conversation, newId, useSession, useSessions } from './page';
import { dress } from './theme';
import { onPrompt } from './token';
import { useUnread } from './unread';

/** Something that closes by Escape itself lies over the conversation. */
const covered = () =>
  document.querySelector('dialog[open], [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]') !== null;

/** Puts the focus where a person goes on. A phone would cover the conversation with its keyboard. */
function enter() {
  const field = matchMedia('(hover: hover)').matches ? document.querySelector<HTMLElement>('textarea') : null;
  (field ?? document.querySelector<HTMLElement>('.embed button'))?.focus();
}

/** The page in the frame: it waits for the host, and then shows one conversation. */
export function Embed() {
  const [start, setStart] = useState<(Start & { last?: Last }) | null>(null);
  const [open, setOpen] = useState(true);
  const [calm, setCalm] = useCalm();
  const [begun, setBegun] = useState<Begun | null>(null),
    [problem, setProblem] = useState<string | null>(null),
    [tries, setTries] = useState(0);
  useEffect(() => {
    const stop = listen(message => {
      switch (message.type) {
        case 'start':
          dress(message.start.theme ?? {});
          setProblem(null);
          setStart({ ...message.start, last: message.last });
          break;
        case 'shown':
          setOpen(message.open);
          if (message.open && message.focus) {
            setCalm(false);
            enter();
          }
      }
    });
    tell({ type: 'hello' });
    return stop;
  }, [setCalm]);
  useEffect(() => {
    if (!start) return;
    let here = true;
    begin(start).then(
      b => {
        if (here) setBegun(b);
      },
      (e: Error) => {
        if (here) setProblem(e instanceof TypeError ? 'The chat cannot be reached now.' : e.message);
      },
    );
    return () => {
      here = false;
    };
  }, [start, tries]);
  useEffect(() => {
    let was = false;
    const before = () => {
      was = covered();
    };
    const after = (e: KeyboardEvent) => {
      if (e.key === 'Escape' && !e.isComposing && !e.defaultPrevented && !was) tell({ type: 'close' });
    };
    addEventListener('keydown', before, true);
    addEventListener('keydown', after);
    return () => {
      removeEventListener('keydown', before, true);
      removeEventListener('keydown', after);
    };
  }, []);
  const startNew = useCallback(() => setBegun(b => b && { ...b, id: newId(), known: false }), []);

  const title = start?.title ?? 'Chat';
  return (
    <div className="embed">
      <header className="embed-top">
        <h1>{title}</h1>
        {begun && !start?.session && (
          <button type="button" onClick={startNew}>
            New conversation
          </button>
        )}
        <button type="button" onClick={() => tell({ type: 'close' })}>
          Close
        </button>
      </header>
      <main className="embed-main" inert={calm}>
        {problem && (
          <div className="banner" role="alert">
            <span>{problem}</span>
            <button
              type="button"
              onClick={() => {
                setProblem(null);
                setTries(n => n + 1);
              }}
            >
              Try again
            </button>
          </div>
        )}
        {begun && <One key={begun.id} begun={begun} agent={start?.agent ?? ''} open={open} />}
      </main>
    </div>
  );
}

/** One conversation. Once it has begun, a reload of the host finds it again. */
function One({ begun: { user, id, known }, agent, open }: { begun: Begun; agent: string; open: boolean }) {
  const session = useSession(useSessions(), id, known ? '' : id);
  useEffect(() => onPrompt(() => tell({ type: 'begun', last: { user, session: id } })), [user, id]);
  useUnread(session, open);
  return <Conversation id={id} known={known} agent={session ? '' : agent} session={session} />;
}
