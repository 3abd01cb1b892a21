// What an app says to a conversation, and what a conversation shows of itself: the forms that all frameworks share.
import type { AbstractChat, ChatInit, UIMessage } from 'ai';
import type { Answer, PendingRequest } from './events.js';
import type { TributaryTransport } from './transport.js';

/** What a Chat of every release and framework has. */
export interface ChatLike<M extends UIMessage> {
  messages: M[];
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error';
  readonly error: Error | undefined;
  sendMessage: (message?: never, options?: never) => Promise<void>;
  regenerate: (options?: never) => Promise<void>;
  resumeStream: () => Promise<void>;
  stop: () => Promise<void>;
  clearError: () => void;
}

export interface ConversationState {
  /** The history is not on the screen yet. */
  loading: boolean;
  /** Whether older messages are to be had. */
  more: boolean;
  /** Whether the gateway is reached. If not, the conversation tries again by itself. */
  connected: boolean;
  /** There is no session with this id yet. */
  missing: boolean;
  /** The session was deleted. */
  deleted: boolean;
  /** Why the history or the events cannot be read, or the last call was refused. */
  problem: Error | undefined;
  /** What is typed and not sent. A message that the gateway did not take is a draft again. */
  draft: string;
}

/** A message that the gateway did not take. */
export interface Refused<M extends UIMessage> {
  message: M;
  /** The message that it would have replaced, if it was an edit. */
  messageId?: string;
  /** Resolves if the history has the message after all, because the connection was lost behind it. */
  taken: Promise<void>;
}

/**
 * What a conversation tells and asks the components that show it. The callbacks of the newest rendering count. Of several components with one
 * id each hears onData, onError, onFinish, onToolCall and onRefused. A component that has gone hears nothing.
 */
export interface Callbacks<M extends UIMessage>
  extends Pick<ChatInit<M>, 'onData' | 'onError' | 'onFinish' | 'onToolCall' | 'sendAutomaticallyWhen'> {
  /**
   * Runs before a prompt goes to a session that does not exist yet, for example to make the session with a mode. If it throws, the prompt is
   * refused. Of several components with one id, that of the first one runs.
   */
  onBegin?: () => Promise<void>;
  /** Takes a message that the gateway did not take, in the place of the draft. Messages that it would have replaced are on the screen again. */
  onRefused?: (refused: Refused<M>) => void;
  /** The agent of a new session. Of several components with one id, that of the first one counts. */
  agent?: string;
}

/** A component that shows a conversation. current: its callbacks now. */
export interface Component<M extends UIMessage> {
  readonly current: Callbacks<M>;
}

/** What the Chat of a conversation is made with. The first component that shows the id makes the Chat; the options of later ones change nothing. */
export type ChatOptions<M extends UIMessage> = Omit<ChatInit<M>, 'id' | 'transport' | keyof Callbacks<M>>;

export interface ConversationOptions<M extends UIMessage, C extends ChatLike<M>> {
  id: string;
  transport: TributaryTransport<M>;
  /** The app has just made the id, so that there is nothing to load. */
  fresh?: boolean;
  init?: ChatOptions<M>;
  /** Makes the Chat of the framework. */
  create: (init: ChatInit<M>) => C;
}

/** No value has this type. Its key is the sentence that TypeScript shows. */
interface Refusal<Why extends string> {
  readonly refused: Why & { readonly never: never };
}

/**
 * The options of useTributaryChat: all those of useChat, and those of a conversation. Those of useChat that are not named here mean what they
 * mean there. Those that are no callbacks count when the conversation is made, by the first component that shows the id.
 */
export interface TributaryChatOptions<M extends UIMessage> extends ChatOptions<M>, Callbacks<M> {
  /** The id of the session. The first prompt makes the session. Left out: a new id, for a conversation that is over with its component. */
  id?: string;
  /** One transport for the whole app, made outside of the components. Left out: the gateway of the page's own origin. No other ChatTransport will do: the conversation also reads histories and events. */
  transport?: TributaryTransport<M>;
  /** The app has just made the id: there is nothing to load before the first prompt. */
  fresh?: boolean;
  /** Shown until the newest page of the history is there, which replaces them: the gateway owns the history. */
  messages?: M[];
  /** Changes nothing: a conversation resumes a running turn by itself, whoever began it. */
  resume?: boolean;
  /** A conversation makes its Chat itself, because all components with one id share it. */
  chat?: Refusal<'A conversation makes its own Chat. Give an id and a TributaryTransport, or use useChat({ chat }).'>;
}

/** What a conversation shows in every framework, beside what useChat shows. */
export interface TributaryView extends Omit<ConversationState, 'more' | 'problem'> {
  /** Whether a turn runs, as far as this tab knows. */
  busy: boolean;
  /** The requests that wait for a person. */
  requests: PendingRequest[];
  /** Loads the page before the first message; undefined if there is none. */
  earlier: (() => Promise<void>) | undefined;
}

/** What a Chat shows and does in Vue and Svelte, as far as the installed release of `ai` has it. */
export type ChatView<M extends UIMessage> = Pick<
  AbstractChat<M>,
  Extract<'id' | 'messages' | 'status' | 'error' | 'experimental_queuedMessages', keyof AbstractChat<M>>
>;
export type ChatMethods<M extends UIMessage> = Pick<
  AbstractChat<M>,
  Extract<'sendMessage' | 'regenerate' | (typeof CHAT_METHODS)[number], keyof AbstractChat<M>>
>;

/** Those of them that are the Chat's own here too. */
export const CHAT_METHODS = [
  'resumeStream',
  'addToolOutput',
  'addToolResult',
  'addToolApprovalResponse',
  'experimental_removeQueuedMessage',
  'experimental_sendQueuedMessageNow',
] as const;

/** What a person does in a conversation, in every framework, beside what useChat has for it. */
export interface TributaryMethods {
  /** Ends the turn, for everybody. */
  stop: () => Promise<void>;
  /** Answers a request. The rest of the turn comes by itself. */
  answer: (request: string | { id: string }, answer: Answer) => Promise<void>;
  /** Takes the error away, whether it is the Chat's or the conversation's. */
  clearError: () => void;
  /** Loads the history again after an error. */
  reload: () => void;
  setDraft: (draft: string | ((now: string) => string)) => void;
  /** Sends the draft, with files if there are any. */
  submit: (options?: { files?: unknown; metadata?: unknown; body?: object }) => Promise<void>;
}
