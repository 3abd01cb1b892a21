// useTributaryChat takes and returns all that useChat does, of the installed release. Each line fails to compile if that is not so.
import type { useChat, UseChatHelpers } from '@ai-sdk/react';
import type { TributaryUIMessage as M } from '@tributary/chat';
import { useTributaryChat, type TributaryChat, type TributaryChatOptions } from '@tributary/chat/react';
import { DefaultChatTransport, type ChatInit } from 'ai';

type Never<T extends never> = T;
type KeysOf<T> = T extends unknown ? keyof T : never;
type Options = NonNullable<Parameters<typeof useChat<M>>[0]>;
type OwnChat<T> = T extends { chat: unknown } ? never : T;

/** Each member is there, and can be used wherever that of useChat can. */
export const members = (chat: TributaryChat<M>): UseChatHelpers<M> => chat;

/** Each option is there, and takes what useChat takes. A transport is a TributaryTransport. */
export type NoOptionIsMissing = Never<Exclude<KeysOf<Options>, keyof TributaryChatOptions<M>>>;
export const options = (
  of: Omit<ChatInit<M>, 'transport'> & Pick<OwnChat<Options>, Exclude<keyof OwnChat<Options>, keyof ChatInit<M>>>,
): TributaryChatOptions<M> => of;

/** A member or an option that is new in a release: decide what it means in a conversation that components share, and name it here. */
export type NoMemberIsUnknown = Never<
  Exclude<
    keyof UseChatHelpers<M>,
    | 'id'
    | 'messages'
    | 'setMessages'
    | 'status'
    | 'error'
    | 'clearError'
    | 'sendMessage'
    | 'regenerate'
    | 'stop'
    | 'resumeStream'
    | 'addToolResult'
    | 'addToolOutput'
    | 'addToolApprovalResponse'
    | 'experimental_queuedMessages'
    | 'experimental_removeQueuedMessage'
    | 'experimental_sendQueuedMessageNow'
  >
>;
export type NoOptionIsUnknown = Never<
  Exclude<
    KeysOf<Options>,
    | 'id'
    | 'transport'
    | 'messages'
    | 'generateId'
    | 'messageMetadataSchema'
    | 'dataPartSchemas'
    | 'sendAutomaticallyWhen'
    | 'onData'
    | 'onError'
    | 'onFinish'
    | 'onToolCall'
    | 'resume'
    | 'throttle'
    | 'experimental_throttle'
    | 'experimental_queue'
    | 'chat'
  >
>;

export function Uses({ chat }: { chat: Extract<Options, { chat: unknown }>['chat'] }) {
  useTributaryChat();
  useTributaryChat({
    id: 'a',
    messages: [],
    resume: true,
    experimental_throttle: 40,
    throttle: 40,
    generateId: () => 'm',
    sendAutomaticallyWhen: () => false,
  });
  // @ts-expect-error the sentence of the type says what to do
  useTributaryChat({ chat });
  // @ts-expect-error the conversation reads histories and events too
  useTributaryChat({ id: 'a', transport: new DefaultChatTransport() });
}
