// TributaryChat for Svelte.
import { Chat } from '@ai-sdk/svelte';
import { generateId, type UIMessage } from 'ai';
import { createSubscriber } from 'svelte/reactivity';
import type { Conversation } from './conversation.js';
import type { TributaryUIMessage } from './message.js';
import { methodsOf, viewOf } from './members.js';
import type { ChatLike, ChatMethods, ChatView, TributaryChatOptions, TributaryMethods, TributaryView } from './options.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

export type { TributaryChatOptions } from './options.js';

type Own<M extends UIMessage> = Conversation<M, ChatLike<M>>;

/** All that the Chat of @ai-sdk/svelte has, and what a conversation has beside it. messages and draft can be set. */
export interface TributaryChat<M extends UIMessage>
  extends Omit<ChatView<M>, 'messages'>,
    TributaryView,
    Omit<ChatMethods<M>, keyof TributaryMethods>,
    TributaryMethods {
  messages: M[];
  setMessages: (messages: M[] | ((now: M[]) => M[])) => void;
  /** The conversation itself, for all that is not here. */
  readonly conversation: Own<M>;
  /** Keeps the conversation up to date, and has it call the callbacks, until the result is called. */
  hold: () => () => void;
}

const registry = new Registry();

/** Ends the conversation with this id, or all conversations of the transport, for example after a sign-out. */
export const endConversations = <M extends UIMessage>(transport: TributaryTransport<M> = registry.transport<M>(), id?: string) =>
  registry.end(transport, id);

/** A conversation with a gateway, with getters that Svelte follows. Call hold() in an effect: $effect(() => chat.hold()). With a function of options, the id can change. */
export function tributaryChat<M extends UIMessage = TributaryUIMessage>(
  options: TributaryChatOptions<M> | (() => TributaryChatOptions<M>) = {},
): TributaryChat<M> {
  const made = generateId(),
    component = {
      get current() {
        return typeof options === 'function' ? options() : options;
      },
    };
  let last: { conversation: Own<M>; follow: () => void } | undefined;
  const shown = () => {
    const init = component.current,
      { id = made, transport = registry.transport<M>(), fresh = init.id === undefined } = init;
    if (last?.conversation.id === id && last.conversation.transport === transport) return last;
    const conversation = registry.get({ id, transport, fresh, init, create: with_ => new Chat(with_ as never) as unknown as ChatLike<M> });
    return (last = { conversation, follow: createSubscriber(update => conversation.subscribe(update)) });
  };
  const state = () => {
    const { conversation, follow } = shown();
    follow();
    return conversation.state;
  };
  const of = () => shown().conversation,
    methods = methodsOf(of),
    set: Record<string, (value: never) => void> = { messages: methods.setMessages, draft: methods.setDraft };
  const getters = Object.entries({ ...viewOf(of, state), conversation: of }).map(([name, get]) => [
    name,
    { get, set: set[name], enumerable: true },
  ]);
  return Object.defineProperties(
    {
      ...methods,
      hold() {
        const conversation = of(),
          ends = [conversation.attach(component), registry.hold(conversation)];
        return () => {
          for (const end of ends) end();
        };
      },
    },
    Object.fromEntries(getters) as PropertyDescriptorMap,
  ) as TributaryChat<M>;
}
