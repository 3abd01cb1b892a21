// useTributaryChat for Vue.
import { Chat } from '@ai-sdk/vue';
import type { UIMessage } from 'ai';
import { computed, onScopeDispose, shallowRef } from 'vue';
import type { ChatLike } from './conversation.js';
import type { TributaryUIMessage } from './message.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

const registry = new Registry();

/** A conversation with a gateway: its Chat, and what a conversation has beside it. Call it in setup(); for another id, in another component. */
export function useTributaryChat<M extends UIMessage = TributaryUIMessage>({ id, transport = registry.transport<M>(), agent, fresh }: { id: string; transport?: TributaryTransport<M>; agent?: string; fresh?: boolean }) {
  const conversation = registry.get({ id, transport, fresh, create: init => new Chat(init as never) as unknown as ChatLike<M> });
  conversation.agent = agent;
  const state = shallowRef(conversation.state), { chat } = conversation;
  const ends = [conversation.subscribe(next => { state.value = next; }), registry.hold(conversation)];
  onScopeDispose(() => { for (const end of ends) end(); });
  return {
    conversation, state,
    messages: computed(() => chat.messages),
    status: computed(() => chat.status),
    error: computed(() => state.value.problem ?? chat.error),
    requests: computed(() => (state.value, conversation.requests(chat.messages))),
  };
}
