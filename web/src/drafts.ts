// What was typed and not sent stays with its session, also while another one is shown.
import { useCallback, useState } from 'react';

const drafts = new Map<string, string>();

/** The draft of a session, and its setter; the setter takes a function of the draft, too. */
export function useDraft(id: string) {
  const [text, setText] = useState(drafts.get(id) ?? '');
  const set = useCallback((next: (now: string) => string) => {
    const draft = next(drafts.get(id) ?? '');
    if (draft) drafts.set(id, draft); else drafts.delete(id);
    setText(draft);
  }, [id]);
  return [text, set] as const;
}
