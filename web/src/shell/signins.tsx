import { useEffect, useState } from 'react';
import { endSignIn, listSignIns, type SignIn } from '../api/api';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';

const day = (at: string) => new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The sign-ins of this person, each of which can be ended. */
export default function SignIns({ onClose }: { onClose: () => void }) {
  const [all, setAll] = useState<SignIn[] | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    listSignIns().then(setAll, (e: Error) => setProblem(e.message));
  }, []);
  const end = async (id: string) => {
    try {
      await endSignIn(id);
      setAll(now => now?.filter(s => s.id !== id) ?? null);
    } catch (e) {
      setProblem((e as Error).message);
    }
  };
  return (
    <Dialog title="Sign-ins" about="Each browser that is signed in. Ending one closes its streams." onClose={onClose}>
      <ul className="people">
        {all?.map(s => (
          <li key={s.id}>
            <span className="grow">
              {s.name}
              <span className="note">
                {' '}
                since {day(s.created_at)}, until {day(s.expires_at)}
              </span>
            </span>
            <Button
              small
              onClick={() => {
                void end(s.id);
              }}
            >
              End
            </Button>
          </li>
        ))}
      </ul>
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
