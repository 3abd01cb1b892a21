import { useEffect, useMemo, useRef, useState } from 'react';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { answerPermission, answerQuestion, PROFILE, said, stopTurn, type Page, type Session } from './api';
import { useCatchUp } from './catchup';
import { Composer } from './composer';
import type { Answers } from './answers';
import { useDraft } from './drafts';
import { Earlier } from './earlier';
import { useHistory } from './history';
import { Message } from './message';
import { sentence as errorOf } from './parts/data';
import { settle } from './route';
import { submitting } from './submit';
import { useStick } from './stick';
import { useKeptFocus } from './focus';
import { Working } from './working';

interface Props { id: string; agent: string; session: Session | undefined; first: Page; known: boolean }

/** Whether the message itself already shows this error. */
const tells = (message: UIMessage | undefined, sentence: string) =>
  message?.role === 'assistant' && message.parts.some(p => p.type === 'data-error' && errorOf(p.data) === sentence);

/** Whether the message holds a request that nobody has answered. */
const waits = (message: UIMessage | undefined) => message?.role === 'assistant' && message.parts.some(p =>
  'state' in p && (p.state === 'approval-requested' || (p.type === 'tool-AskUser' && p.state === 'input-available')));

/** What a data part of the agent says about what it does right now, if it says so. */
function doing(data: unknown): string | null {
  if (!data || typeof data !== 'object') return null;
  const { status, detail } = data as { status?: unknown; detail?: unknown };
  const said = [status, detail].filter((x): x is string => typeof x === 'string' && x !== '');
  return said.length ? said.join(': ').replaceAll('_', ' ') : null;
}

export function Chat({ id, agent, session, first, known }: Props) {
  const [detail, setDetail] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [draft, setDraft] = useDraft(id);
  const giveBack = useRef<(message: UIMessage) => void>(() => {});
  const transport = useMemo(() => new DefaultChatTransport({
    api: `/api/chat?${PROFILE}${agent ? `&agent=${encodeURIComponent(agent)}` : ''}`,
    fetch: submitting(message => giveBack.current(message)),
  }), [agent]);
  const chat = useChat({
    id, messages: first.messages, transport, // no resume: the first event tells what runs
    onData: part => { if (/status/.test(part.type)) setDetail(doing(part.data)); },
    onFinish: () => setDetail(null),
  });
  const { messages, status, error } = chat;
  const busy = status === 'submitted' || status === 'streaming';
  const working = useRef(busy);
  useEffect(() => { working.current = busy; }, [busy]);
  const history = useHistory(id, chat, first);
  useCatchUp(chat, history, known || session ? id : null, busy);
  const paused = waits(messages.at(-1)) && (busy || session?.state === 'paused');
  const { box, end, follow } = useStick(messages, paused);
  const keepFocus = useKeptFocus(box);

  // A message that the gateway did not take is a draft again, unless the history has it after all.
  const returned = useRef<{ id: string; text: string } | null>(null);
  useEffect(() => {
    giveBack.current = message => {
      const text = message.parts.flatMap(p => (p.type === 'text' ? [p.text] : [])).join('\n');
      returned.current = { id: message.id, text };
      chat.setMessages(now => now.filter(m => m.id !== message.id));
      setDraft(now => now || text);
    };
  });
  useEffect(() => {
    const back = returned.current;
    if (!back || !messages.some(m => m.id === back.id)) return;
    returned.current = null;
    setDraft(now => (now === back.text ? '' : now));
  }, [messages, setDraft]);

  const send = (text: string) => {
    setProblem(null);
    follow();
    settle(id);
    void chat.sendMessage({ text });
  };
  const stop = async () => {
    keepFocus();
    await chat.stop();
    try { await stopTurn(id); (await history.newest())(); } catch (e) { setProblem((e as Error).message); }
  };
  const answers: Answers = useMemo(() => {
    const settleBy = async (answered: Promise<void>) => {
      setProblem(null);
      keepFocus();
      try { await answered; } catch (e) { setProblem((e as Error).message); }
      // A stream that was held open shows the rest by itself; a paused one is taken up again.
      if (!working.current) await chat.resumeStream();
    };
    return {
      permit: (request, answer) => settleBy(answerPermission(id, request, answer)),
      reply: (question, value) => settleBy(answerQuestion(id, question, value)),
    };
  }, [id, chat.resumeStream, keepFocus]);

  const sentence = problem ?? (error && !tells(messages.at(-1), error.message) ? said(error) : undefined);
  return (
    <>
      <div className="scroll" ref={box} role="region" tabIndex={0} aria-label="Conversation">
        <div className="page" role="log" aria-busy={busy}>
          <Earlier history={history} box={box} />
          {messages.length === 0 && <p className="hint">{first.missing && 'There is no session at this address: it was deleted, or has not begun. '}Ask the agent something. The conversation is kept, and a reload picks up an answer that is still being written.</p>}
          {messages.map((m, i) => <Message key={m.id} message={m} session={id} live={busy && i === messages.length - 1} answers={answers} />)}
          {busy && !paused && <Working detail={detail} waiting={status === 'submitted'} />}
          {paused && <p className="working" role="status">The agent waits for your answer.</p>}
          {sentence && (
            <div className="banner" role="alert">
              <span>{sentence}</span>
              <button onClick={() => { setProblem(null); chat.clearError(); }}>Dismiss</button>
            </div>
          )}
          <div ref={end} />
        </div>
      </div>
      <Composer text={draft} onText={text => setDraft(() => text)} busy={busy} waiting={paused} onSend={send} onStop={() => void stop()} />
    </>
  );
}
