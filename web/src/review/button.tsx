import { useEffect, useRef } from 'react';
import { FileDiff } from 'lucide-react';
import { Button } from '../ui/button';
import { useChangeCount } from './count';

/** Opens and closes the review of a session's changes; nothing while there are none. */
export function ChangesButton({ id, open, onOpen }: { id: string; open: boolean; onOpen: (open: boolean) => void }) {
  const count = useChangeCount(id);
  const button = useRef<HTMLButtonElement>(null),
    was = useRef(open);
  useEffect(() => {
    if (was.current && !open) button.current?.focus();
    was.current = open;
  }, [open]);
  if (!count && !open) return null;
  return (
    <Button
      ref={button}
      small
      className="changes-button"
      aria-pressed={open}
      aria-label={`Changes (${count})`}
      onClick={() => onOpen(!open)}
    >
      <FileDiff aria-hidden="true" />
      <span className="changes-word">Changes </span>({count})
    </Button>
  );
}
