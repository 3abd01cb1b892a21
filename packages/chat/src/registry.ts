// Conversations that outlive the components that show them: a change of session aborts nothing.
import type { UIMessage } from 'ai';
import { Conversation, type ChatLike, type ConversationOptions } from './conversation.js';
import { TributaryTransport } from './transport.js';

/** How long a conversation stays after the last component has let go of it. One that streams, or holds a draft, stays longer. */
const LINGER = 60_000;

interface Entry<M extends UIMessage, C extends ChatLike<M>> { conversation: Conversation<M, C>; holders: number; timer: ReturnType<typeof setTimeout> | undefined }

/** The conversations of one framework, by transport and id. */
export class Registry {
  #entries = new Map<object, Map<string, Entry<never, never>>>();
  #common: object | undefined;

  /** The transport of those who name none: the gateway of the page's own origin. */
  transport<M extends UIMessage>(): TributaryTransport<M> {
    return (this.#common ??= new TributaryTransport<M>()) as TributaryTransport<M>;
  }

  /** The conversation with this id. On a server nothing is kept: each request has its own. */
  get<M extends UIMessage, C extends ChatLike<M>>(options: ConversationOptions<M, C>): Conversation<M, C> {
    if (typeof window === 'undefined') return new Conversation(options);
    const { id, transport } = options, entries = this.#of<M, C>(transport);
    let entry = entries.get(id);
    if (!entry) {
      entry = { conversation: new Conversation(options), holders: 0, timer: undefined };
      entries.set(id, entry);
      this.#expire(entries, entry);
    }
    return entry.conversation;
  }

  /** Keeps a conversation, and keeps it up to date, until the result is called. */
  hold<M extends UIMessage, C extends ChatLike<M>>(conversation: Conversation<M, C>): () => void {
    const entries = this.#of<M, C>(conversation.transport);
    let entry = entries.get(conversation.id);
    if (entry?.conversation !== conversation) entries.set(conversation.id, entry = { conversation, holders: 0, timer: undefined }); // it had expired
    const held = entry;
    clearTimeout(held.timer);
    if (held.holders++ === 0) conversation.open();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--held.holders > 0) return;
      conversation.close();
      this.#expire(entries, held);
    };
  }

  /** Ends a conversation, or all of a transport: after a sign-out nothing of it remains. */
  async end<M extends UIMessage>(transport: TributaryTransport<M>, id?: string): Promise<void> {
    const entries = this.#of<M, ChatLike<M>>(transport);
    for (const entry of [...entries.values()]) {
      if (id !== undefined && entry.conversation.id !== id) continue;
      clearTimeout(entry.timer);
      entries.delete(entry.conversation.id);
      await entry.conversation.end();
    }
  }

  #of<M extends UIMessage, C extends ChatLike<M>>(transport: object): Map<string, Entry<M, C>> {
    let entries = this.#entries.get(transport);
    if (!entries) this.#entries.set(transport, entries = new Map());
    return entries as unknown as Map<string, Entry<M, C>>;
  }

  #expire<M extends UIMessage, C extends ChatLike<M>>(entries: Map<string, Entry<M, C>>, entry: Entry<M, C>) {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      if (entry.conversation.kept) return this.#expire(entries, entry);
      entries.delete(entry.conversation.id);
      void entry.conversation.end();
    }, LINGER);
    (entry.timer as { unref?: () => void }).unref?.(); // no reason for a program to stay
  }
}
