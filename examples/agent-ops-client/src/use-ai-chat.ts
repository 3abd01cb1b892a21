// The same chat by the stock useChat of the AI SDK. The wrapper adds the four things that the stock hook lacks: a stop that stops the agent,
// answers, the history, and turns that began elsewhere. The last come by the session's socket, which stays open for its other events.
import { useEffect, useMemo } from 'react';
import { Chat, useChat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { at, call, headers } from './gateway';
import { sessionStore } from './session-store';
import type { ChatSession, Prompt } from './types';
import { messageOf, promptsOf, statusOf } from './ui-messages';
import { useSession } from './use-session';

const PROFILE = 'client=7&compat=none';

/** A frame of a turn of this tab comes at about the same time as the end of its stream. */
const MOMENT = 100;

/** A chat outlives its component: useChat closes the stream of a chat of its own when the component goes. */
const chats = new Map<string, { chat: Chat<UIMessage>; transport: Transport }>();

/** Keeps its newest search for a running turn. One that finds none makes the chat ready, and would clear the error of a prompt that failed meanwhile. */
class Transport extends DefaultChatTransport<UIMessage> {
  searched: Promise<unknown> = Promise.resolve();
  override reconnectToStream(options: Parameters<DefaultChatTransport<UIMessage>['reconnectToStream']>[0]) {
    const found = super.reconnectToStream(options);
    this.searched = found.catch(() => { /* the chat says it */ });
    return found;
  }
}

function chatOf(id: string) {
  let known = chats.get(id);
  if (!known) {
    const transport = new Transport({ api: `${at(id)}/chat?${PROFILE}`, headers });
    chats.set(id, known = { transport, chat: new Chat({ id, transport }) });
  }
  return known;
}

const isBusy = (chat: Chat<UIMessage>) => chat.status === 'submitted' || chat.status === 'streaming';

/** Shows the conversation as the gateway has it, and follows the turn that runs. */
async function catchUp(id: string, chat: Chat<UIMessage>) {
  const history = await (await call('GET', `${at(id)}/messages?${PROFILE}`)).json() as UIMessage[];
  if (isBusy(chat) || chat.status === 'error') return; // a message was sent meanwhile: it must stay, and so must its error
  chat.messages = history;
  await chat.resumeStream();
}

export function useAiChat(id: string): ChatSession {
  const { chat, transport } = chatOf(id), { messages, status, error } = useChat({ chat });
  const news = useSession(id, s => s.news), problem = useSession(id, s => s.error);

  useEffect(() => {
    const timer = setTimeout(() => { if (!isBusy(chat) && chat.status !== 'error') catchUp(id, chat).catch(() => { /* the next frame tries again */ }); }, MOMENT);
    return () => clearTimeout(timer);
  }, [id, chat, news, status]);

  const actions = useMemo(() => {
    const failed = (e: Error) => sessionStore(id).setState({ error: e.message });
    return {
      send(text: string) {
        sessionStore(id).setState({ error: null });
        void transport.searched.then(() => chat.sendMessage({ text }));
      },
      abort() { call('POST', `${at(id)}/stop`).catch(failed); }, // chat.stop() would only close the stream
      answer({ id: request, type }: Prompt, value: string | boolean) {
        const body = type === 'question' ? { value } : { approved: value };
        call('POST', `${at(id)}/${type === 'question' ? 'questions' : 'permissions'}/${encodeURIComponent(request)}`, body).then(() => catchUp(id, chat)).catch(failed);
      },
      retry() {
        const last = chat.messages.at(-1);
        void (last?.role === 'user' ? chat.sendMessage() : chat.regenerate());
      },
    };
  }, [id, chat, transport]);

  return {
    messages: useMemo(() => messages.map(messageOf), [messages]),
    prompts: useMemo(() => promptsOf(messages), [messages]),
    status: statusOf(status, messages),
    error: error?.message ?? problem,
    ...actions,
    retry: error && actions.retry,
  };
}
