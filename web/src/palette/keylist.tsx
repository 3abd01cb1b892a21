import './palette.css';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { KEYS, setLetters, useLetters } from './keys';

const ALL: [string, string][] = [
  ['Command menu', KEYS.palette],
  ['These keys', KEYS.keys],
  ['New session', KEYS.new],
  ['Inbox', KEYS.inbox],
  ['Search the sessions', KEYS.search],
  ['Next session', KEYS.next],
  ['Previous session', KEYS.previous],
  ['Rename the session', KEYS.rename],
  ['Stop the turn', KEYS.stop],
  ['Next request in the inbox', 'j'],
  ['Previous request in the inbox', 'k'],
  ['Next file of the review', 'n'],
  ['Previous file of the review', 'p'],
  ['Mark the file as viewed', 'v'],
  ['Fold the file', 'x'],
  ['Old and new side by side', 's'],
  ['Stop, from an empty message', 'Esc'],
  ['Earlier prompts, from an empty message', '↑'],
];

/** The keys of the page, and a switch for those of one letter. */
export default function KeyList({ onClose }: { onClose: () => void }) {
  const on = useLetters();
  return (
    <Dialog title="Keys" about="Keys of one letter wait while you type." onClose={onClose}>
      <dl className="keys">
        {ALL.map(([name, keys]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <label className="keys-switch">
        <input type="checkbox" checked={on} onChange={e => setLetters(e.target.checked)} />
        Use keys of one letter, and F2
      </label>
      <div className="actions">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
