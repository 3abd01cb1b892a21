// The members of a conversation and of its Chat, for frameworks whose component can turn to another conversation.
import type { UIMessage } from 'ai';
import type { Conversation } from './conversation.js';
import { isNetworkError } from './errors.js';
import { CHAT_METHODS, type ChatLike, type ChatMethods, type ConversationState, type TributaryMethods } from './options.js';

type Run = (...args: never[]) => unknown;
type SetMessages<M> = (messages: M[] | ((now: M[]) => M[])) => void;

/** The methods, which go to the conversation that `of` names at each call. */
export function methodsOf<M extends UIMessage>(of: () => Conversation<M, ChatLike<M>>) {
  const own = (['sendMessage', 'regenerate', 'stop', 'clearError', 'answer', 'setDraft', 'submit'] as const).map(name => [
    name,
    (...args: never[]) => (of()[name] as Run)(...args),
  ]);
  const chats = CHAT_METHODS.filter(name => name in of().chat).map(name => [
    name,
    (...args: never[]) => (of().chat as unknown as Record<string, Run>)[name]!(...args),
  ]);
  const setMessages: SetMessages<M> = messages => {
    const { chat } = of();
    chat.messages = typeof messages === 'function' ? messages(chat.messages) : messages;
  };
  return { ...Object.fromEntries([...own, ...chats]), setMessages, reload: () => of().open() } as ChatMethods<M> &
    TributaryMethods & { setMessages: SetMessages<M> };
}

/** What is shown, as functions that read it. state: the state of the conversation, read in a way that the framework notices. */
export function viewOf<M extends UIMessage>(of: () => Conversation<M, ChatLike<M>>, state: () => ConversationState) {
  const chat = () => of().chat,
    error = () => state().problem ?? chat().error;
  return {
    error,
    id: () => of().id,
    messages: () => chat().messages,
    status: () => chat().status,
    experimental_queuedMessages: () => (chat() as { experimental_queuedMessages?: M[] }).experimental_queuedMessages ?? [],
    loading: () => state().loading,
    connected: () => state().connected && !isNetworkError(error()),
    missing: () => state().missing,
    deleted: () => state().deleted,
    draft: () => state().draft,
    busy: () => chat().status === 'submitted' || chat().status === 'streaming',
    requests: () => {
      state(); // what is pending changes it
      return of().requests(chat().messages);
    },
    earlier: () => (state().more ? () => of().earlier() : undefined),
  };
}
