// The forms of what the gateway sends, as docs/reference/openapi.yaml has them. Only what the package itself adds is written here.
import type { components } from './openapi.js';

type Schemas = components['schemas'];

export type Session = Schemas['Session'];
export type Outcome = Schemas['Outcome'];
/** A turn, when it has got another state. requests: the ids of the requests that wait. */
export type TurnNews = Schemas['Turn'];
export type TurnState = TurnNews['state'];
/** An event of one session. reset: the client's mark means nothing any more; read everything again. */
export type SessionEvent = Schemas['SessionEvent'];
/** An event of the list of sessions. A list replaces all that the client has; next leads to the page after. */
export type SessionsEvent = Schemas['SessionsEvent'];
/** What users can choose in a session. */
export type Controls = Schemas['Controls'];
export type Choice = Schemas['Choice'];
export type Command = Schemas['Command'];
export type QuestionChoice = Schemas['QuestionChoice'];
export type Agent = Schemas['Agent'];
/** What a grader found in a turn. message_id: the last answer of the turn. */
export type Score = Schemas['Score'];
export type QueuedPrompt = Schemas['QueuedPrompt'];
/** What becomes of the prompts that wait when the turn before them is stopped. */
export type AfterStop = 'hold' | 'run' | 'remove';
export type Stopped = Schemas['Stopped'];

/** A way to answer a permission request. The message itself says less than the gateway. */
export interface RequestOption
  extends Pick<Schemas['RequestOption'], 'id' | 'name'>,
    Partial<Pick<Schemas['RequestOption'], 'kind' | 'scope'>> {}

type Always = 'id' | 'kind' | 'message_id' | 'title';

/** A request that waits for a person: a permission, or a question. Requests that are found in a message have less than those of the gateway. */
export interface PendingRequest extends Pick<Schemas['Request'], Always>, Partial<Omit<Schemas['Request'], Always | 'options'>> {
  /** Of a permission: what the agent offers. */
  options?: RequestOption[];
}

/** The same union, in which no member may have the keys of another one. */
type Exclusive<T, K extends PropertyKey = T extends unknown ? keyof T : never> = T extends unknown
  ? T & { [P in Exclude<K, keyof T>]?: never }
  : never;

/** The answer to a permission: yes or no, or one of the options by its id, name or kind. interrupt: a refusal that ends the turn. */
export type PermissionAnswer = Exclusive<Schemas['PermissionAnswer']>;
/** The answer to a question: the label of a choice, any text, or several of them. */
export type QuestionAnswer = Schemas['QuestionAnswer'];
export type Answer = PermissionAnswer | QuestionAnswer;
