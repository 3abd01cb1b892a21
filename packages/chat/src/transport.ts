import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import { isNetworkError, networkError } from './errors.js';
import type { AfterStop, Answer, PendingRequest, QueuedPrompt, SessionEvent, SessionsEvent, Stopped } from './events.js';
import { follow, type FollowOptions } from './follow.js';
import { Gateway, type GatewayOptions } from './gateway.js';
import { TributaryError } from './errors.js';
import type { TributaryUIMessage } from './message.js';
import { installedProfile } from './profile.js';

export interface TributaryTransportOptions extends GatewayOptions {
  /** The client profile, such as "7" or "7.0.173". Left out: the one of the installed release of `ai`. */
  client?: string;
  /** The agent of new sessions. The gateway refuses another agent for a session that exists. */
  agent?: string;
  /** More keys for the body of each prompt. */
  body?: object | (() => object | Promise<object>);
}

/** A page of the history, the oldest message first. before leads to the page before; null: there is none. missing: there is no such session. */
export interface HistoryPage<M extends UIMessage> {
  messages: M[];
  before: string | null;
  missing?: boolean;
}

type Send<M extends UIMessage> = Parameters<DefaultChatTransport<M>['sendMessages']>[0];
type Reconnect<M extends UIMessage> = Parameters<DefaultChatTransport<M>['reconnectToStream']>[0];

/** As the metadata of reconnectToStream: nothing is resumed of a turn that ended just now, for a caller that reads the history then. */
export const ONLY_UNFINISHED = { ended: false };

const at = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

/** The AI SDK's chat transport for a gateway, with what the gateway offers beside the chat. */
export class TributaryTransport<M extends UIMessage = TributaryUIMessage> extends DefaultChatTransport<M> {
  readonly #gateway: Gateway;
  readonly #client: string | undefined;

  constructor({ client, agent, body, ...options }: TributaryTransportOptions = {}) {
    const gateway = new Gateway(options);
    super({
      body,
      fetch: (path, init) => gateway.fetch(String(path), init),
      prepareSendMessagesRequest: async ({ id, messages, body, headers, trigger, messageId }) => ({
        api: `/api/chat?${await profile(client)}`,
        headers,
        body: { ...(agent !== undefined && { agent }), ...body, id, messages: newest(messages, messageId), trigger, messageId },
      }),
      prepareReconnectToStreamRequest: async ({ id, headers, requestMetadata }) => ({
        api: `/api/chat/${encodeURIComponent(id)}/stream?${await profile(client)}${requestMetadata === ONLY_UNFINISHED ? '&ended=0' : ''}`,
        headers,
      }),
    });
    this.#gateway = gateway;
    this.#client = client;
  }

  override async sendMessages(options: Send<M>): Promise<ReadableStream<UIMessageChunk>> {
    return whole(await super.sendMessages(options));
  }

  override async reconnectToStream(options: Reconnect<M>): Promise<ReadableStream<UIMessageChunk> | null> {
    const stream = await super.reconnectToStream(options);
    return stream && whole(stream);
  }

  /**
   * Ends the running turn, or the named one, for everybody. The hook's own stop() closes the connection only. queue: what becomes of the
   * prompts that wait. Left out, they are held until somebody continues (continueQueue) or removes them.
   */
  async stopTurn(id: string, turn?: string, queue?: AfterStop): Promise<Stopped> {
    return this.#gateway.json('POST', `${at(id)}/stop`, turn === undefined && queue === undefined ? undefined : { turn, queue });
  }

  /** The prompts that wait, the next one first. */
  async queue(id: string): Promise<QueuedPrompt[]> {
    return (await this.#gateway.json<{ queue: QueuedPrompt[] }>('GET', `${at(id)}/queue`)).queue;
  }

  /** Lets the prompts run that a stop or a restart of the gateway has held. */
  async continueQueue(id: string): Promise<void> {
    await this.#gateway.send('POST', `${at(id)}/queue/continue`);
  }

  /** Removes the prompts that wait, as far as the person may: an owner all of them, others their own. */
  async clearQueue(id: string): Promise<void> {
    await this.#gateway.send('DELETE', `${at(id)}/queue`);
  }

  /** Answers a permission or a question. Resume the stream to see the rest of the message. */
  async answer(id: string, request: string, answer: Answer): Promise<void> {
    await this.#gateway.json('POST', `${at(id)}/${'value' in answer ? 'questions' : 'permissions'}/${encodeURIComponent(request)}`, answer);
  }

  /** The newest page of the history, or the one before a mark. limit counts turns. */
  async history(
    id: string,
    { before, limit, signal }: { before?: string; limit?: number; signal?: AbortSignal } = {},
  ): Promise<HistoryPage<M>> {
    const query = [
      await profile(this.#client),
      before !== undefined && `before=${encodeURIComponent(before)}`,
      limit !== undefined && `limit=${limit}`,
    ];
    try {
      const response = await this.#gateway.fetch(`${at(id)}/messages?${query.filter(Boolean).join('&')}`, { signal });
      const mark = /[?&]before=([^&>]*)[^>]*>; rel="prev"/.exec(response.headers.get('link') ?? '')?.[1];
      return { messages: (await response.json()) as M[], before: mark === undefined ? null : decodeURIComponent(mark) };
    } catch (error) {
      if (error instanceof TributaryError && error.status === 404) return { messages: [], before: null, missing: true };
      throw isNetworkError(error) ? networkError(error) : error;
    }
  }

  /** All requests that wait for a person, in one session or in all that the person may see. */
  async requests(id?: string): Promise<PendingRequest[]> {
    return (await this.#gateway.json<{ requests: PendingRequest[] }>('GET', `${id === undefined ? '/api' : at(id)}/requests`)).requests;
  }

  /**
   * The events of a session, until it is deleted or the signal ends. Lost connections are tried again, behind the last mark. after: the mark
   * of the last event that the caller has.
   */
  events(id: string, { after = '', ...options }: FollowOptions & { after?: string } = {}) {
    return follow<SessionEvent>(
      this.#gateway,
      mark => `${at(id)}/events${mark && `?after=${encodeURIComponent(mark)}`}`,
      after,
      event => event.type === 'deleted',
      options,
    );
  }

  /** The list of sessions, and then each change of it. After a lost connection the whole list comes again. */
  sessions({ limit = 100, ...options }: FollowOptions & { limit?: number } = {}) {
    return follow<SessionsEvent>(
      this.#gateway,
      () => `/api/events?limit=${limit}`,
      '',
      () => false,
      options,
    );
  }

  /**
   * Puts a prompt behind the turn that runs, for a chat that reads that turn already: the same stream brings the answer to the prompt. The
   * message of a refusal is a sentence.
   */
  async enqueue(id: string, message: M): Promise<void> {
    const response = await this.#gateway.send('POST', `/api/chat?${await profile(this.#client)}`, {
      id,
      messages: [message],
      trigger: 'submit-message',
    });
    await response.body?.cancel();
  }

  /** Lost connections try again at once, for example after a sign-in. */
  retry() {
    this.#gateway.retry();
  }

  /** Any other route of the gateway, with the same token and the same errors: call('PATCH', '/api/sessions/ID', { title }). */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#gateway.json<T>(method, path, body);
  }

  /** The same for an answer that is no JSON, such as a download, or whose headers count. */
  async response(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    return this.#gateway.send(method, path, body, signal);
  }
}

/** The query that all routes of the chat share. The package cannot answer what `compat: rfc` shows. */
const profile = async (client: string | undefined) => `client=${encodeURIComponent(client ?? (await installedProfile()))}&compat=none`;

/** What the gateway reads of a conversation: the last prompt, the message before it, and the one that an answer is in. The gateway owns the history. */
const newest = <M extends UIMessage>(messages: M[], messageId: string | undefined) =>
  messages.filter((message, i) => i >= messages.length - 2 || message.id === messageId);

/**
 * A stream that ends as the gateway ends it, or with a network error. A connection can also end without an error, for example in a proxy. And the
 * gateway itself can end a stream although the turn goes on, for example because the token has expired: then no data-error goes before the error.
 */
function whole(stream: ReadableStream<UIMessageChunk>): ReadableStream<UIMessageChunk> {
  const reader = stream.getReader();
  let over = false,
    failed = false;
  return new ReadableStream({
    async pull(out) {
      try {
        const { done, value } = await reader.read();
        if (done && !over) throw networkError();
        if (done) return out.close();
        failed ||= value.type === 'data-error';
        if (value.type === 'error' && !failed) {
          void reader.cancel();
          throw networkError(undefined, value.errorText);
        }
        over ||= value.type === 'finish' || value.type === 'abort' || value.type === 'error';
        out.enqueue(value);
      } catch (error) {
        out.error(error instanceof TypeError && !isNetworkError(error) ? networkError(error) : error);
      }
    },
    cancel: reason => reader.cancel(reason),
  });
}
