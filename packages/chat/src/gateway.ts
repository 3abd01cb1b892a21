// The HTTP side of a gateway: one place for its address, the token and what is done when the token has expired.
import { networkError, refusal } from './errors.js';
import { withoutSilence } from './silence.js';

export interface GatewayOptions {
  /** The origin of the gateway, such as https://agents.example.com. Left out: the page's own. */
  url?: string;
  /** Headers for each request. A function is called for each request. */
  headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>);
  /** Fetches a token for the person. The package keeps the token, and asks for another one when the gateway refuses it. */
  getToken?: () => string | Promise<string>;
  /** Used in the place of the global fetch. */
  fetch?: typeof globalThis.fetch;
  credentials?: RequestCredentials;
}

export class Gateway {
  readonly #options: GatewayOptions;
  #waiting = new Set<() => void>();
  #token: Promise<string> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Whether a refused token can be replaced by another one. */
  get renews() {
    return this.#options.getToken !== undefined || typeof this.#options.headers === 'function';
  }

  /** The next request asks for another token. */
  renew() {
    this.#token = undefined;
  }

  /** Calls run at each retry, until the result is called. */
  onRetry(run: () => void) {
    this.#waiting.add(run);
    return () => {
      this.#waiting.delete(run);
    };
  }

  /** Everything that waits for its next try tries now. */
  retry() {
    for (const run of [...this.#waiting]) run();
  }

  /** An answer that is ok. A refusal is a TributaryError, a lost or silent connection a TypeError. path begins with a slash. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    for (let again = false; ; again = true) {
      const headers = await this.#headers(init.headers),
        used = this.#token;
      let response: Response;
      try {
        const address = (this.#options.url ?? '').replace(/\/$/, '') + path;
        response = await withoutSilence(this.#options.fetch ?? globalThis.fetch, address, {
          ...init,
          headers,
          credentials: this.#options.credentials ?? init.credentials,
        });
      } catch (error) {
        if (init.signal?.aborted || !(error instanceof TypeError)) throw error;
        throw networkError(error);
      }
      if (response.ok) return response;
      if (response.status !== 401 || again || !this.renews) throw await refusal(response);
      await response.body?.cancel();
      if (this.#token === used) this.renew(); // else another request has renewed it
    }
  }

  /** A request whose body, if there is one, is JSON. */
  async send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return this.fetch(path, { method, signal, ...(body !== undefined && { headers, body: JSON.stringify(body) }) });
  }

  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.send(method, path, body);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async #headers(more: HeadersInit | undefined): Promise<Headers> {
    const { headers: own, getToken } = this.#options;
    const headers = new Headers(typeof own === 'function' ? await own() : own);
    if (getToken) {
      const token = (this.#token ??= Promise.resolve().then(getToken));
      try {
        headers.set('authorization', `Bearer ${await token}`);
      } catch (error) {
        if (this.#token === token) this.renew();
        throw error;
      }
    }
    for (const [name, value] of new Headers(more)) headers.set(name, value);
    return headers;
  }
}
