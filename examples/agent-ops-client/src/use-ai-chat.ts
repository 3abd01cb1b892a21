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
const chats = new Map<string, Chat<UIMessage>>();

function chatOf(id: string): Chat<UIMessage> {
  let chat = chats.get(id);
  if (!chat) {
    const transport = new DefaultChatTransport({ api: `${at(id)}/chat?${PROFILE}`, headers });
    chats.set(id, chat = new Chat({ id, transport }));
  }
  return chat;
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
  const chat = chatOf(id), { messages, status, error } = useChat({ chat });
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
        void chat.sendMessage({ text });
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
  }, [id, chat]);

  return {
    messages: useMemo(() => messages.map(messageOf), [messages]),
    prompts: useMemo(() => promptsOf(messages), [messages]),
    status: statusOf(status, messages),
    error: error?.message ?? problem,
    ...actions,
    retry: error && actions.retry,
  };
}
