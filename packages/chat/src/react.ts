// useTributaryChat for React: useChat, and all that a conversation with a gateway has beside it.
import { Chat, useChat, type UseChatHelpers } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Callbacks, Conversation, ConversationState } from './conversation.js';
import { isNetworkError } from './errors.js';
import type { PendingRequest } from './events.js';
import type { TributaryUIMessage } from './message.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

export interface TributaryChatOptions<M extends UIMessage> extends Callbacks<M> {
  /** The id of the session. The first prompt makes the session. */
  id: string;
  /** One transport for the whole app, made outside of the components. Left out: the gateway of the page's own origin. */
  transport?: TributaryTransport<M>;
  /** The agent of a new session. */
  agent?: string;
  /** The app has just made the id: there is nothing to load before the first prompt. */
  fresh?: boolean;
  /** The shortest time between two renderings of a streamed message, in milliseconds. */
  throttle?: number;
}

type Own<M extends UIMessage> = Conversation<M, Chat<M>>;

export interface TributaryChat<M extends UIMessage> extends Pick<UseChatHelpers<M>, 'id' | 'messages' | 'setMessages' | 'status' | 'resumeStream'>, Omit<ConversationState, 'more' | 'problem'> {
  sendMessage: UseChatHelpers<M>['sendMessage'];
  regenerate: UseChatHelpers<M>['regenerate'];
  /** What went wrong, as a sentence to show. A lost connection is none: see connected. */
  error: Error | undefined;
  clearError: () => void;
  /** The conversation itself, for all that is not here. */
  conversation: Own<M>;
  /** Whether a turn runs, as far as this tab knows. */
  busy: boolean;
  /** The requests that wait for a person, and how to answer one. */
  requests: PendingRequest[];
  answer: Own<M>['answer'];
  /** Ends the turn, for everybody. */
  stop: () => Promise<void>;
  /** Loads the page before the first message; undefined if there is none. */
  earlier: (() => Promise<void>) | undefined;
  /** Loads the history again after an error. */
  reload: () => void;
  setDraft: Own<M>['setDraft'];
  /** Sends the draft. */
  submit: Own<M>['submit'];
}

const registry = new Registry();

/** Ends the conversation with this id, or all conversations of the transport, for example after a sign-out. */
export const endConversations = <M extends UIMessage>(transport: TributaryTransport<M> = registry.transport<M>(), id?: string) => registry.end(transport, id);

export function useTributaryChat<M extends UIMessage = TributaryUIMessage>(
  { id, transport = registry.transport<M>(), agent, fresh, throttle, ...callbacks }: TributaryChatOptions<M>,
): TributaryChat<M> {
  const conversation: Own<M> = useMemo(() => registry.get({ id, transport, fresh, create: init => new Chat<M>(init) }), [transport, id]); // fresh counts once
  useEffect(() => {
    conversation.callbacks = callbacks;
    conversation.agent = agent;
  });
  useEffect(() => registry.hold(conversation), [conversation]);
  const chat = useChat<M>({ chat: conversation.chat, experimental_throttle: throttle });
  const now = () => conversation.state;
  const { more, problem, ...state } = useSyncExternalStore(conversation.subscribe, now, now);
  const failure = problem ?? chat.error;
  return {
    ...state,
    id, messages: chat.messages, setMessages: chat.setMessages, status: chat.status, resumeStream: chat.resumeStream,
    sendMessage: conversation.sendMessage as TributaryChat<M>['sendMessage'],
    regenerate: conversation.regenerate as TributaryChat<M>['regenerate'],
    error: isNetworkError(failure) ? undefined : failure,
    connected: state.connected && !isNetworkError(failure),
    clearError: conversation.clearError,
    conversation,
    busy: chat.status === 'submitted' || chat.status === 'streaming',
    requests: conversation.requests(chat.messages),
    answer: conversation.answer,
    stop: conversation.stop,
    earlier: more ? conversation.earlier : undefined,
    reload: conversation.open,
    setDraft: conversation.setDraft,
    submit: conversation.submit,
  };
}
