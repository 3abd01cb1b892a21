// useTributaryChat for Vue.
import { Chat } from '@ai-sdk/vue';
import { generateId, type UIMessage } from 'ai';
import {
  computed,
  onScopeDispose,
  shallowRef,
  toValue,
  watch,
  type ComputedRef,
  type MaybeRefOrGetter,
  type WritableComputedRef,
} from 'vue';
import type { Conversation } from './conversation.js';
import type { TributaryUIMessage } from './message.js';
import { methodsOf, viewOf } from './members.js';
import type { ChatLike, ChatMethods, ChatView, TributaryChatOptions as Options, TributaryMethods, TributaryView } from './options.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

export interface TributaryChatOptions<M extends UIMessage> extends Options<M> {
  /** The shortest time between two changes of messages, in milliseconds. Read once, in setup(). */
  throttle?: number;
}

type Own<M extends UIMessage> = Conversation<M, ChatLike<M>>;
type Writable = 'messages' | 'draft';
type Refs<T> = { [K in Exclude<keyof T, Writable>]: ComputedRef<T[K]> } & { [K in Extract<keyof T, Writable>]: WritableComputedRef<T[K]> };

/** All that useChat returns, as refs and methods, and what a conversation has beside it. */
export type TributaryChat<M extends UIMessage> = Refs<ChatView<M> & TributaryView> &
  Omit<ChatMethods<M>, keyof TributaryMethods> &
  TributaryMethods & {
    setMessages: (messages: M[] | ((now: M[]) => M[])) => void;
    /** The conversation itself, for all that is not here. */
    conversation: ComputedRef<Own<M>>;
  };

const registry = new Registry();

/** Ends the conversation with this id, or all conversations of the transport, for example after a sign-out. */
export const endConversations = <M extends UIMessage>(transport: TributaryTransport<M> = registry.transport<M>(), id?: string) =>
  registry.end(transport, id);

/** A conversation with a gateway: its Chat, and what a conversation has beside it. Call it in setup(). With a getter of options, the id can change. */
export function useTributaryChat<M extends UIMessage = TributaryUIMessage>(
  options: MaybeRefOrGetter<TributaryChatOptions<M>> = {},
): TributaryChat<M> {
  const made = generateId(),
    component = {
      get current() {
        return toValue(options);
      },
    };
  const conversation = shallowRef() as { value: Own<M> },
    state = shallowRef() as { value: Own<M>['state'] };
  let leave = () => {
    /* nothing is shown yet */
  };
  onScopeDispose(() => leave());
  watch(
    [() => component.current.id ?? made, () => component.current.transport ?? registry.transport<M>()] as const,
    ([id, transport]) => {
      const { fresh = component.current.id === undefined } = component.current;
      leave();
      const next = registry.get({
        id,
        transport,
        fresh,
        init: component.current,
        create: init => new Chat(init as never) as unknown as ChatLike<M>,
      });
      const ends = [
        next.attach(component),
        next.subscribe(now => {
          state.value = now;
        }),
        registry.hold(next),
      ];
      leave = () => {
        for (const end of ends) end();
      };
      conversation.value = next;
    },
    { immediate: true, flush: 'sync' },
  );
  const of = () => conversation.value,
    methods = methodsOf(of),
    set: Record<string, (value: never) => void> = { messages: methods.setMessages, draft: methods.setDraft };
  const view = viewOf(of, () => state.value),
    { throttle } = component.current;
  if (throttle) view.messages = throttled(view.messages, throttle);
  const refs = Object.entries(view).map(([name, get]) => [
    name,
    set[name] ? computed<unknown>({ get, set: set[name] as () => void }) : computed<unknown>(get),
  ]);
  return { ...methods, ...Object.fromEntries(refs), conversation: computed(of) } as TributaryChat<M>;
}

/** A list that changes at most once in so many milliseconds. */
function throttled<T>(read: () => T[], ms: number): () => T[] {
  const copy = () => [...read()],
    shown = shallowRef(copy());
  let timer: ReturnType<typeof setTimeout> | undefined,
    behind = false;
  const show = () => {
    shown.value = copy();
    behind = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (behind) show();
    }, ms);
  };
  watch(
    copy,
    () => {
      if (timer === undefined) show();
      else behind = true;
    },
    { flush: 'sync' },
  );
  onScopeDispose(() => clearTimeout(timer));
  return () => shown.value;
}
