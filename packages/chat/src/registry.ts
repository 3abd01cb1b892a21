// Conversations that outlive the components that show them: a change of session aborts nothing.
import type { UIMessage } from 'ai';
import { Conversation } from './conversation.js';
import type { ChatLike, ConversationOptions } from './options.js';
import { TributaryTransport } from './transport.js';

/** How long a conversation stays after the last component has let go of it, in milliseconds. One that streams, or holds a draft, stays longer. */
const LINGER = 60_000;

/** holders: how many components show the conversation. */
interface Entry {
  conversation: Conversation<never, never>;
  holders: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The conversations of one framework, by transport and id. */
export class Registry {
  #entries = new WeakMap<object, Map<string, Entry>>();
  /** The entry of each conversation, whether or not the conversation is still the one of its id. */
  #entryOf = new WeakMap<object, Entry>();
  #common: object | undefined;

  /** The transport of those who name none: the gateway of the page's own origin. */
  transport<M extends UIMessage>(): TributaryTransport<M> {
    return (this.#common ??= new TributaryTransport<M>()) as TributaryTransport<M>;
  }

  /** The conversation with this id. On a server nothing is kept: each request has its own. */
  get<M extends UIMessage, C extends ChatLike<M>>(options: ConversationOptions<M, C>): Conversation<M, C> {
    if (typeof window === 'undefined') return new Conversation(options);
    const { id, transport } = options,
      entries = this.#of(transport);
    let entry = entries.get(id);
    if (!entry) {
      const conversation = new Conversation(options);
      entry = { conversation: conversation as never, holders: 0, timer: undefined };
      entries.set(id, entry);
      this.#entryOf.set(conversation, entry);
      this.#expire(entry);
    }
    return entry.conversation as never;
  }

  /** Keeps a conversation of get(), and keeps it up to date, until the result is called. On a server there is nothing to keep. */
  hold<M extends UIMessage, C extends ChatLike<M>>(conversation: Conversation<M, C>): () => void {
    const entry = this.#entryOf.get(conversation),
      entries = this.#of(conversation.transport);
    if (!entry)
      return () => {
        /* a server */
      };
    if (!entries.has(conversation.id)) entries.set(conversation.id, entry); // it had expired
    clearTimeout(entry.timer);
    if (entry.holders++ === 0) conversation.open();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--entry.holders > 0) return;
      conversation.close();
      this.#expire(entry);
    };
  }

  /** Ends a conversation, or all of a transport: after a sign-out nothing of it remains. */
  async end<M extends UIMessage>(transport: TributaryTransport<M>, id?: string): Promise<void> {
    for (const entry of [...this.#of(transport).values()]) if (id === undefined || entry.conversation.id === id) await this.#end(entry);
  }

  #of(transport: object): Map<string, Entry> {
    const entries = this.#entries.get(transport) ?? new Map<string, Entry>();
    this.#entries.set(transport, entries);
    return entries;
  }

  #expire(entry: Entry) {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      if (entry.conversation.kept) this.#expire(entry);
      else void this.#end(entry);
    }, LINGER);
    (entry.timer as { unref?: () => void }).unref?.(); // no reason for a program to stay
  }

  /** The id may belong to a newer conversation already, which stays. */
  #end(entry: Entry): Promise<void> {
    const { conversation } = entry,
      entries = this.#of(conversation.transport);
    clearTimeout(entry.timer);
    if (entries.get(conversation.id) === entry) entries.delete(conversation.id);
    return conversation.end();
  }
}
