// The requests that wait for a person, as a message shows them.
import type { UIMessage } from 'ai';
import type { PendingRequest } from './events.js';
import type { AskPermissionInput, AskUserInput } from './message.js';

/** A part in the form that all releases share. */
interface Part {
  type: string;
  toolName?: string;
  toolCallId?: string;
  title?: string;
  state?: string;
  input?: unknown;
  approval?: { id: string };
  callProviderMetadata?: { tributary?: { input_text?: string } };
}

/** The requests of the newest message that nobody has answered, in the order in which the message shows them. */
export function pendingRequests(messages: readonly UIMessage[]): PendingRequest[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return [];
  return last.parts.flatMap(part => requestIn(part, last.id) ?? []);
}

/** The request that a part of a message makes now, as far as the part itself says; undefined if it makes none. */
export function requestIn(of: UIMessage['parts'][number], message_id: string): PendingRequest | undefined {
  const part = of as Part;
  const asks = part.state === 'input-available',
    about = { message_id, tool_call_id: part.toolCallId };
  if (part.type === 'tool-AskUser' && asks) {
    const { question, choices, multiple, header } = part.input as AskUserInput;
    return { ...about, id: part.toolCallId!, kind: 'question', title: header ?? question, text: question, choices, multiple };
  }
  if (part.type === 'tool-AskPermission' && asks) {
    const { request_id, title, options, tool, input, input_text, tool_call_id } = part.input as AskPermissionInput;
    return { message_id, tool_call_id, id: request_id, kind: 'permission', title, options, tool, input, input_text };
  }
  if (part.state !== 'approval-requested' || !part.approval) return undefined;
  const tool = part.toolName ?? part.type.replace(/^tool-/, '');
  return {
    ...about,
    id: part.approval.id,
    kind: 'permission',
    tool,
    title: part.title ?? tool,
    input: part.input,
    input_text: part.callProviderMetadata?.tributary?.input_text,
  };
}

/** The requests on the screen of one conversation, with what the gateway says of them beyond the message. */
export class Requests {
  readonly #load: () => Promise<PendingRequest[]>;
  readonly #changed: () => void;
  #answered = new Set<string>();
  #known = new Map<string, Partial<PendingRequest>>();
  /** What else waits in the session: the message shows it later, when what it asks now is answered. */
  #others: PendingRequest[] = [];
  #current = true;

  constructor(load: () => Promise<PendingRequest[]>, changed: () => void) {
    this.#load = load;
    this.#changed = changed;
  }

  /** Those that these messages show, then the others of the session, but not the ones that were answered here. */
  among(messages: readonly UIMessage[]): PendingRequest[] {
    const shown = pendingRequests(messages);
    const others = shown.length > 0 ? this.#others.filter(({ id }) => shown.every(request => request.id !== id)) : [];
    return [...shown.map(request => ({ ...request, ...this.#known.get(request.id) })), ...others].filter(
      ({ id }) => !this.#answered.has(id),
    );
  }

  /** The session may have others now. */
  changed() {
    this.#current = false;
  }

  /** A person has answered here: the message shows it later. */
  answered(id: string) {
    this.#answered.add(id);
    this.#changed();
  }

  /** Asks what the agent offers with requests that are new in these messages, and what else waits. Without an answer, yes and no remain. */
  ask(messages: readonly UIMessage[]) {
    const open = pendingRequests(messages).filter(({ id }) => !this.#answered.has(id));
    if (open.every(({ id }) => this.#known.has(id)) && (this.#current || open.length === 0)) return;
    this.#current = true;
    for (const request of open) if (!this.#known.has(request.id)) this.#known.set(request.id, request);
    const more = (found: PendingRequest[]) => {
      for (const { id } of open) this.#known.set(id, { ...this.#known.get(id), may_answer: true });
      for (const request of found) this.#known.set(request.id, { ...this.#known.get(request.id), input_text: undefined, ...request });
      this.#others = found;
      this.#changed();
    };
    this.#load().then(more, () => more([]));
  }
}
