import { useState } from 'react';
import { Link, X } from 'lucide-react';
import { changeMember, type Session } from '../api/api';
import { Button, IconButton } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Select } from '../ui/select';
import type { Acting } from './acting';

const ROLES = [
  { value: 'viewer', name: 'Viewer', note: 'reads along' },
  { value: 'collaborator', name: 'Collaborator', note: 'writes prompts, and answers questions' },
  { value: 'owner', name: 'Owner', note: 'also renames, invites and deletes' },
];

/** Who may see a session, for its owner. */
export default function People({ session, acting, onClose }: { session: Session; acting: Acting; onClose: () => void }) {
  const [name, setName] = useState(''),
    [role, setRole] = useState('viewer');
  const [members, setMembers] = useState(session.members ?? {});
  const [problem, setProblem] = useState(''),
    [unmet, setUnmet] = useState('');
  const change = async (who: string, to: string | null): Promise<boolean> => {
    setProblem('');
    setUnmet('');
    try {
      const { members: now, principal, unknown } = await changeMember(session.id, who, to);
      setMembers(now);
      setUnmet(unknown ? principal : '');
      return true;
    } catch (e) {
      setProblem((e as Error).message);
      return false;
    }
  };
  const add = async () => {
    const typed = name;
    if (await change(typed.trim(), role)) setName(now => (now === typed ? '' : now));
  };
  return (
    <Dialog title="People in this session" about="The link opens the session for those who may see it." onClose={onClose}>
      <ul className="people">
        {session.owner && (
          <li>
            <span className="grow">{session.owner}</span>
            <span className="note">made the session</span>
          </li>
        )}
        {Object.entries(members).map(([who, has]) => (
          <li key={who}>
            <span className="grow">{who}</span>
            <Select
              small
              label={`Role of ${who}`}
              value={has}
              choices={ROLES}
              onChange={to => {
                void change(who, to);
              }}
            />
            <IconButton
              small
              label={`Remove ${who}`}
              onClick={() => {
                void change(who, null);
              }}
            >
              <X />
            </IconButton>
          </li>
        ))}
      </ul>
      <form
        className="invite"
        onSubmit={e => {
          e.preventDefault();
          if (name.trim()) void add();
        }}
      >
        <input
          className="input"
          aria-label="Name of a person"
          placeholder="Name, as the gateway knows it"
          value={name}
          onChange={e => setName(e.target.value)}
        />
        <Select label="Role" value={role} choices={ROLES} onChange={setRole} />
        <Button type="submit" disabled={!name.trim()}>
          Add
        </Button>
      </form>
      {unmet && (
        <p className="note" role="status">
          Nobody has come with the name {unmet} yet: the role counts when somebody does. Remove the name if it is not the right one.
        </p>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <Button onClick={() => acting.copyLink(session)}>
          <Link aria-hidden="true" />
          Copy link
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
