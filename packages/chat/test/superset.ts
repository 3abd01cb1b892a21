// useTributaryChat for Vue and tributaryChat for Svelte take and return all that the stock clients do. test/conformance/chat-package/superset.ts says the same of React.
import type { Chat } from '@ai-sdk/svelte';
import type { useChat, UseChatHelpers } from '@ai-sdk/vue';
import type { AbstractChat, ChatInit } from 'ai';
import type { MaybeRefOrGetter } from 'vue';
import type { TributaryUIMessage as M } from '../src/index.js';
import type { TributaryChat as InSvelte, TributaryChatOptions } from '../src/svelte.js';
import type { TributaryChat as InVue, useTributaryChat } from '../src/vue.js';

type Never<T extends never> = T;
type OptionsOf<T> = T extends MaybeRefOrGetter<infer O> | undefined ? O : never;

export const vue = (chat: InVue<M>): UseChatHelpers<M> => chat;
export type NoVueOptionIsMissing = Never<
  Exclude<
    keyof Exclude<OptionsOf<Parameters<typeof useChat<M>>[0]>, undefined>,
    keyof Exclude<OptionsOf<Parameters<typeof useTributaryChat<M>>[0]>, undefined>
  >
>;

/** Where the Chat itself is wanted: conversation.chat. It must not be disposed of while components share it. */
type OfTheChat = 'generateId' | 'lastMessage' | 'dispose';
export const svelte = (chat: InSvelte<M>): Omit<Chat<M>, OfTheChat> => chat;
export const options = (of: Omit<ChatInit<M>, 'transport'>): TributaryChatOptions<M> => of;
export type NoMemberIsUnknown = Never<
  Exclude<
    keyof AbstractChat<M>,
    | OfTheChat
    | 'id'
    | 'messages'
    | 'status'
    | 'error'
    | 'sendMessage'
    | 'regenerate'
    | 'resumeStream'
    | 'clearError'
    | 'stop'
    | 'addToolApprovalResponse'
    | 'addToolOutput'
    | 'addToolResult'
    | 'experimental_queuedMessages'
    | 'experimental_removeQueuedMessage'
    | 'experimental_sendQueuedMessageNow'
  >
>;
