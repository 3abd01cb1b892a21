// The person in front of the page, and the conversation that they see first.
import type { Last, Start } from '../../widget/protocol';
import { ask, me, newId, readSession } from './page';

export interface Begun {
  user: string;
  id: string;
  known: boolean;
}

/** Fails with a sentence for the person. */
export async function begin(start: Start & { last?: Last }): Promise<Begun> {
  const res = await ask('/api/agents');
  if (res.status === 401) throw new Error('Please sign in to use this chat.');
  if (!res.ok) throw new Error('The chat cannot be reached now.');
  const user = (await me())?.user?.id ?? '',
    last = start.session ?? (start.last?.user === user ? start.last.session : null);
  if (last === null) return { user, id: newId(), known: false };
  const known = (await readSession(last)) !== null;
  return { user, id: known || start.session !== undefined ? last : newId(), known };
}
