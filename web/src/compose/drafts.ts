// The text that was typed and not sent. It stays with its session, and survives a reload and a new sign-in.
import { Kept, useKept } from './kept';

/** The draft of a chat that has no session yet. */
export const NEW = 'new';

const drafts = new Kept<string>('draft', '', text => text === '');

export const useDraft = (key: string) => useKept(drafts, key);
