// The streams of a Chat, as its conversation sees them.
import type { UIMessageChunk } from 'ai';

/** Waits for a promise, but no longer than so many milliseconds. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    promise,
    new Promise(resolve => {
      timer = setTimeout(resolve, ms);
    }),
  ]).finally(() => clearTimeout(timer));
}

/** asked: a person is asked something. over: the stream is over, in whichever way; message is the one that it brought, if it came to its end. */
interface Watch {
  asked: () => void;
  over: (message?: string) => void;
  broke: (error: unknown, message?: string) => unknown;
}

/** The same stream, watched. broke makes the error that the Chat gets. A stream can stay open while the agent asks. */
export function watched(stream: ReadableStream<UIMessageChunk>, { asked, over, broke }: Watch): ReadableStream<UIMessageChunk> {
  const reader = stream.getReader();
  let message: string | undefined;
  return new ReadableStream({
    pull: async out => {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          if (value.type === 'start') message = value.messageId;
          if (asks(value)) asked();
          return out.enqueue(value);
        }
        over(message);
        out.close();
      } catch (error) {
        out.error(broke(error, message));
      }
    },
    cancel: reason => {
      over();
      return reader.cancel(reason);
    },
  });
}

const asks = (chunk: UIMessageChunk) =>
  chunk.type === 'tool-approval-request' || (chunk.type === 'tool-input-available' && /^Ask/.test(chunk.toolName));
