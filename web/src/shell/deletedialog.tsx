import { useState } from 'react';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import type { Acting } from './acting';

/** Asks before a session is deleted: that cannot be undone. */
export default function DeleteDialog({ acting }: { acting: Acting }) {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [kept, setKept] = useState<string>();
  const session = acting.deleting;
  if (!session) return null;
  const remove = async () => {
    setBusy(true);
    try {
      setKept(await acting.remove(session));
    } catch (e) {
      setProblem((e as Error).message);
      setBusy(false);
    }
  };
  if (kept)
    return (
      <Dialog title="The session is deleted" about={kept} onClose={() => acting.askDelete(null)}>
        <div className="actions">
          <Button onClick={() => acting.askDelete(null)}>Close</Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog
      title="Delete this session?"
      about={`“${session.title || 'Untitled'}”, its conversation and its trace are removed for everybody. This cannot be undone.`}
      onClose={() => acting.askDelete(null)}
    >
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <Button onClick={() => acting.askDelete(null)}>Keep it</Button>
        <Button
          look="danger"
          disabled={busy}
          onClick={() => {
            void remove();
          }}
        >
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
