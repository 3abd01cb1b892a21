// Errors, as sentences for the person in front of the screen.

/** A refusal of the gateway. The message is a sentence to show. */
export class TributaryError extends Error {
  override readonly name = 'TributaryError';
  /** status: the HTTP status. code: the gateway's word for the reason, such as "token_expired". retryAfter: seconds to wait. */
  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/**
 * A lost connection. The AI SDK's client takes a TypeError whose message has the word "network" for a disconnect, and resumes.
 * why: a sentence of the gateway that says more.
 */
export const networkError = (cause?: unknown, why?: string) =>
  new TypeError(`The network connection to the gateway is lost.${why ? ` ${why}` : ''}`, { cause });

/** A lost connection in a form that the AI SDK's client takes for the end of the answer. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection';
}

/** Whether an error is a lost connection, in the words of this package or of a browser. */
export const isNetworkError = (error: unknown): error is TypeError | LostConnection =>
  error instanceof LostConnection || (error instanceof TypeError && /network|fetch|load failed/i.test(error.message));

/** The error of an answer that is not ok: {"error","code"}, or one sentence as plain text. */
export async function refusal(response: Response): Promise<TributaryError> {
  const text = (await response.text().catch(() => '')).trim();
  const { status, headers } = response,
    wait = Number(headers.get('retry-after')) || undefined;
  try {
    const body: unknown = JSON.parse(text);
    if (body && typeof body === 'object' && 'error' in body) {
      return new TributaryError(String(body.error), status, 'code' in body ? String(body.code) : undefined, wait);
    }
  } catch {
    /* plain text */
  }
  const sentence = text && text.length < 400 && !text.startsWith('<') ? text : `The gateway answered ${status}.`;
  return new TributaryError(sentence, status, headers.get('x-tributary-code') ?? undefined, wait);
}

/** Whether the gateway does not know the person, or knows them no longer. */
export const isUnknown = (error: unknown): error is TributaryError => error instanceof TributaryError && error.status === 401;

/** Whether the same request may succeed later: the connection is lost, or the gateway is busy or away. */
export const passes = (error: unknown): boolean =>
  isNetworkError(error) || (error instanceof TributaryError && (error.status >= 500 || error.status === 429 || error.status === 408));
