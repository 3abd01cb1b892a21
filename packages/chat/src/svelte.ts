// TributaryChat for Svelte.
import { Chat } from '@ai-sdk/svelte';
import type { UIMessage } from 'ai';
import { createSubscriber } from 'svelte/reactivity';
import type { ChatLike } from './conversation.js';
import type { TributaryUIMessage } from './message.js';
import { Registry } from './registry.js';
import type { TributaryTransport } from './transport.js';

const registry = new Registry();

/** A conversation with a gateway, with getters that Svelte follows. Call hold() in an effect: $effect(() => chat.hold()). */
export function tributaryChat<M extends UIMessage = TributaryUIMessage>({ id, transport = registry.transport<M>(), agent, fresh }: { id: string; transport?: TributaryTransport<M>; agent?: string; fresh?: boolean }) {
  const conversation = registry.get({ id, transport, fresh, create: init => new Chat(init as never) as unknown as ChatLike<M> });
  conversation.agent = agent;
  const follow = createSubscriber(update => conversation.subscribe(update)), { chat } = conversation;
  return {
    conversation,
    hold: () => registry.hold(conversation),
    get state() { follow(); return conversation.state; },
    get messages() { return chat.messages; },
    get status() { return chat.status; },
    get error() { return this.state.problem ?? chat.error; },
    get requests() { follow(); return conversation.requests(chat.messages); },
  };
}
