// The hook that was there before: all of the chat by the session's socket.
import { useMemo } from 'react';
import { sessionStore } from './session-store';
import type { ChatSession, Prompt } from './types';
import { useSession } from './use-session';

export function useChat(id: string): ChatSession {
  const messages = useSession(id, s => s.messages), status = useSession(id, s => s.status);
  const prompts = useSession(id, s => s.prompts), error = useSession(id, s => s.error);
  const actions = useMemo(() => ({
    send: (content: string) => sessionStore(id).tell({ type: 'prompt', content, queueMode: 'followup' }),
    abort: () => sessionStore(id).tell({ type: 'abort' }),
    answer({ id: request, type }: Prompt, value: string | boolean) {
      const { tell } = sessionStore(id);
      if (type === 'question') tell({ type: 'answer', questionId: request, answer: value });
      else tell({ type: value ? 'approve-action' : 'deny-action', invocationId: request });
    },
  }), [id]);
  return { messages, status, prompts, error, ...actions };
}
