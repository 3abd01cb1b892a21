// useTributaryChat for React: useChat, and all that a conversation with a gateway has beside it.
import { Chat, useChat, type UseChatHelpers } from '@ai-sdk/react';
import { generateId, type UIMessage } from 'ai';
import { useEffect, useInsertionEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Conversation } from './conversation.js';
import { isNetworkError } from './errors.js';
import type { TributaryUIMessage } from './message.js';
import type { TributaryChatOptions as Options, TributaryMethods, TributaryView } from './options.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

export interface TributaryChatOptions<M extends UIMessage> extends Options<M> {
  /** The shortest time between two renderings of a streamed message, in milliseconds. */
  throttle?: number;
  /** The name of throttle before release 4 of @ai-sdk/react. */
  experimental_throttle?: number;
}

/**
 * All that useChat returns, under the same names. Other than there, stop ends the turn for everybody, a prompt waits until the history is
 * there, and error can also be a refusal that the Chat knows nothing of. connected says whether the error will pass by itself.
 */
export interface TributaryChat<M extends UIMessage>
  extends Omit<UseChatHelpers<M>, keyof TributaryMethods>,
    TributaryView,
    TributaryMethods {
  /** The conversation itself, for all that is not here. */
  conversation: Conversation<M, Chat<M>>;
}

const registry = new Registry();

/** Ends the conversation with this id, or all conversations of the transport, for example after a sign-out. */
export const endConversations = <M extends UIMessage>(transport: TributaryTransport<M> = registry.transport<M>(), id?: string) =>
  registry.end(transport, id);

export function useTributaryChat<M extends UIMessage = TributaryUIMessage>(options: TributaryChatOptions<M> = {}): TributaryChat<M> {
  const { transport = registry.transport<M>(), throttle = options.experimental_throttle } = options;
  const [made] = useState(generateId),
    id = options.id ?? made,
    fresh = options.fresh ?? options.id === undefined;
  const conversation = useMemo(
    () => registry.get<M, Chat<M>>({ id, transport, fresh, init: options, create: init => new Chat<M>(init) }),
    [transport, id], // eslint-disable-line react-hooks/exhaustive-deps -- the other options count once
  );
  const component = useRef(options);
  useInsertionEffect(() => {
    component.current = options;
  }); // these run before all other effects, those of children too
  useInsertionEffect(() => conversation.attach(component), [conversation]);
  useEffect(() => registry.hold(conversation), [conversation]);
  const chat = useChat<M>({ chat: conversation.chat, throttle, experimental_throttle: throttle });
  const now = () => conversation.state;
  const { more, problem, ...state } = useSyncExternalStore(conversation.subscribe, now, now);
  const { answer, clearError, open: reload, regenerate, sendMessage, setDraft, stop, submit } = conversation,
    error = problem ?? chat.error;
  return {
    ...chat,
    ...state,
    conversation,
    id,
    answer,
    clearError,
    reload,
    setDraft,
    stop,
    submit,
    error,
    sendMessage: sendMessage as UseChatHelpers<M>['sendMessage'],
    regenerate: regenerate as UseChatHelpers<M>['regenerate'],
    connected: state.connected && !isNetworkError(error),
    busy: chat.status === 'submitted' || chat.status === 'streaming',
    requests: conversation.requests(chat.messages),
    earlier: more ? conversation.earlier : undefined,
  };
}
