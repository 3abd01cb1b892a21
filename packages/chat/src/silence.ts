// A fetch that ends. To a browser, a network that takes a request and brings nothing back is a slow server, for ever.
import { networkError } from './errors.js';

/**
 * In milliseconds. SILENCE: the gateway sends a comment on a stream after 15 s of silence, so after three times that the connection is dead.
 * REMOVAL: a DELETE may wait for git to remove a workspace. UPLOAD: how many characters of a body each further millisecond is for.
 */
const SILENCE = 45_000,
  REMOVAL = 300_000,
  UPLOAD = 16;

const timeFor = ({ method, body }: RequestInit) =>
  (method === 'DELETE' ? REMOVAL : SILENCE) + (typeof body === 'string' ? body.length / UPLOAD : 0);

/** The answer of a fetch. A silence in the place of the answer, or in its body while somebody reads it, is a lost connection. */
export async function withoutSilence(fetch: typeof globalThis.fetch, address: string, init: RequestInit): Promise<Response> {
  const { signal } = init,
    attempt = new AbortController();
  const leave = () => attempt.abort(signal?.reason);
  const ended = () => signal?.removeEventListener('abort', leave);
  /** Waits for what the network brings, but no longer than so many milliseconds. */
  const brought = async <T>(ms: number, what: Promise<T>): Promise<T> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(networkError());
        attempt.abort();
      }, ms);
      (timer as { unref?: () => void }).unref?.(); // in Node.js, where a silence alone keeps no program running
    });
    try {
      return await Promise.race([what, silence]);
    } catch (error) {
      ended();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  const response = await brought(timeFor(init), fetch(address, { ...init, signal: attempt.signal }));
  if (!response.body || response.status === 204) {
    // Chromium gives a 204 a body, and no Response can be made with one
    ended();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        const { done, value } = await brought(SILENCE, reader.read());
        if (!done) return out.enqueue(value);
        ended();
        out.close();
      },
      cancel(reason) {
        ended();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 }, // it reads what is asked for, so that a reader who waits is no silence
  );
  return new Response(body, response);
}
