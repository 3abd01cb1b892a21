import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { PendingRequest, Refused } from '@tributary/chat';
import type { TributaryChat } from '@tributary/chat/react';
import type { UIMessage } from 'ai';
import { ArrowDown } from 'lucide-react';
import { reach, said, UNREACHED, type Session } from '../api/api';
import { onSignedIn } from '../api/signin';
import { Actions, MessageActions } from '../compose/actions';
import { useCompose } from '../compose/compose';
import { useQueue, withoutWaiting } from '../compose/queue';
import { Composer } from '../compose/composer';
import { Others } from './asked';
import { SharedContext, type Shared } from './context';
import { useDecisions } from './decisions';
import { Earlier } from './earlier';
import { Log } from './log';
import { useMeter } from './meter';
import { sentence as errorOf } from '../parts/data';
import { PinnedPlan, planOf } from '../parts/plan';
import { isAsking, othersBeside, useRequests } from './requests';
import { go, settle, useView } from '../shell/route';
import { useCountChanges } from '../review/count';
import { ReviewPane } from '../review/pane';
import { useKeptFocus } from './focus';
import { useScores } from './scores';
import { useScroll } from './scroll';
import { Working } from './working';

interface Props {
  id: string;
  agent: string;
  session: Session | undefined;
  known: boolean;
  chat: TributaryChat<UIMessage>;
  /** What the agent says that it does right now. */
  detail: string | null;
  /** Calls take with each prompt that the gateway did not take, until the function that is returned is called. */
  onRefused: (take: (refused: Refused<UIMessage>) => void) => () => void;
  onExport?: (message: string) => void;
}

/** Whether the message itself already shows this error. */
const tells = (message: UIMessage | undefined, sentence: string) =>
  message?.role === 'assistant' && message.parts.some(p => p.type === 'data-error' && errorOf(p.data) === sentence);

export function Chat({ id, agent, session, known, chat, detail, onRefused, onExport }: Props) {
  const [problem, setProblem] = useState<string | null>(null);
  const [anchor, setAnchor] = useState<string | null>(null);
  const { messages, status, busy, conversation } = chat;
  const { error } = conversation.chat; // the conversation's own problems pass by themselves
  const queue = useQueue(id, session, busy);
  const shown = useMemo(() => withoutWaiting(messages, queue.list), [messages, queue.list]);
  const last = shown.at(-1); // of the turn that runs, if one does
  const paused = isAsking(last) && (busy || session?.state === 'paused');
  const open = busy || paused,
    reads = session?.role === 'viewer';
  const { box, page, far, follow } = useScroll(messages, open);
  const keepFocus = useKeptFocus(box);
  const requests = useRequests(chat.requests);
  const others = JSON.stringify(paused ? othersBeside(last, chat.requests) : []); // the list is new with each word of the agent
  const { decisions, decided } = useDecisions(messages);
  useMeter(id, messages, chat.earlier !== undefined);
  useCountChanges(id, messages);
  const scores = useScores(id, onExport !== undefined && session !== undefined && !busy);
  const reviewing = useView() === 'review';

  // The turn that a prompt of this page begins has the window to itself.
  const began = useRef(false);
  const newest = shown.findLast(m => m.role === 'user')?.id;
  useEffect(() => {
    if (!began.current || newest === undefined) return;
    began.current = false;
    setAnchor(newest);
  }, [newest]);
  useEffect(() => {
    if (anchor !== null) follow();
  }, [anchor, follow]);
  useEffect(() => {
    if (!busy) began.current = false;
  }, [busy]);

  const onSend = useCallback(() => {
    began.current = true;
    keepFocus();
    follow();
    settle(id);
  }, [keepFocus, follow, id]);
  const compose = useCompose({ id, known, agent, session, chat, queue, paused, onRefused, tell: setProblem, onSend, onStop: keepFocus });

  const { regenerate } = chat;
  const give: Shared['give'] = useCallback(
    async (request, answer) => {
      setProblem(null);
      keepFocus();
      await reach(conversation.answer(request, answer));
      decided(request, answer);
    },
    [conversation, keepFocus, decided],
  );
  const retry = useCallback(
    (message: UIMessage) => {
      setProblem(null);
      keepFocus();
      follow();
      void regenerate({ messageId: message.id });
    },
    [regenerate, keepFocus, follow],
  );
  const shared = useMemo<Shared>(
    () => ({ requests, decisions, scores, give, retry, actions: message => <MessageActions message={message} onExport={onExport} /> }),
    [requests, decisions, scores, give, retry, onExport],
  );

  const sentence = problem ?? (error && !tells(last, error.message) ? said(error) : undefined);
  const plan = open ? planOf(last?.role === 'assistant' ? last.parts : []) : null;
  const { clearError } = chat;
  const { refresh } = chat.conversation;
  useEffect(() => {
    const reached = () => setProblem(was => (was === UNREACHED ? null : was));
    if (chat.connected) reached();
    addEventListener('online', reached); // a short loss cuts no stream
    return () => removeEventListener('online', reached);
  }, [chat.connected]);
  useEffect(
    () =>
      onSignedIn(() => {
        setProblem(null);
        clearError();
        refresh();
      }),
    [clearError, refresh],
  );
  const tail = useMemo(
    () => (
      <>
        {busy && !paused && <Working id={`${id} ${newest}`} detail={detail} waiting={status === 'submitted'} />}
        <Others of={JSON.parse(others) as PendingRequest[]} />
        {paused && (
          <p className="working" role="status">
            The agent waits for {reads ? 'an' : 'your'} answer.
          </p>
        )}
        {sentence && (
          <div className="banner" role="alert">
            <span>{sentence}</span>
            <button
              type="button"
              className="btn small"
              onClick={() => {
                setProblem(null);
                clearError();
              }}
            >
              Dismiss
            </button>
          </div>
        )}
      </>
    ),
    [busy, paused, reads, others, id, newest, detail, status, sentence, clearError],
  );
  return (
    <SharedContext.Provider value={shared}>
      <Actions value={compose.acting}>
        <div className="conversation">
          <div className="scroll" ref={box} role="region" tabIndex={0} aria-label="Conversation" inert={reviewing}>
            <div className="page" ref={page} role="log" aria-busy={busy}>
              <Earlier chat={chat} boxRef={box} />
              {messages.length === 0 && <Empty missing={chat.missing && known} />}
              <Log messages={shown} live={busy} open={open} anchor={anchor} tail={tail} />
              {messages.length === 0 && tail}
            </div>
          </div>
          {reviewing && (
            <ReviewPane
              id={id}
              messages={messages}
              more={chat.earlier !== undefined}
              older={() => reach(conversation.earlier())}
              onClose={() => go(id)}
            />
          )}
          {far && !reviewing && (
            <button
              type="button"
              className="btn small jump"
              onClick={() => {
                keepFocus();
                follow();
              }}
            >
              <ArrowDown aria-hidden="true" />
              {busy ? 'Follow the answer' : 'Jump to the latest'}
            </button>
          )}
        </div>
        {plan && <PinnedPlan entries={plan} />}
        <Composer compose={compose} />
      </Actions>
    </SharedContext.Provider>
  );
}

function Empty({ missing }: { missing: boolean }) {
  return missing ? (
    <div className="hint">
      <p className="hint-title">There is no session at this address.</p>
      <p>It was deleted, or has not begun. A message begins a session here.</p>
    </div>
  ) : (
    <div className="hint">
      <p className="hint-title">What shall the agent do?</p>
      <p>The conversation is kept, and a reload picks up an answer that is still being written.</p>
    </div>
  );
}
