// The fetch of the chat's transport.
import type { UIMessage } from 'ai';
import { ask } from './signin';

/** A fetch that hands over the user's message of a POST that the gateway did not take. */
export function submitting(refused: (message: UIMessage) => void): typeof fetch {
  return async (input, init) => {
    let res: Response | undefined;
    try {
      res = await ask(input, init);
      return res;
    } finally {
      if (!res?.ok && init?.method === 'POST' && !init.signal?.aborted) {
        const { trigger, messages } = JSON.parse(init.body as string) as { trigger: string; messages: UIMessage[] };
        const last = messages.at(-1);
        if (trigger === 'submit-message' && last?.role === 'user') refused(last);
      }
    }
  };
}
