import { Bell, BellOff } from 'lucide-react';
import { Button } from '../ui/button';
import { setNotify, useNotify } from './notify';

/** Turns notifications on and off. The browser asks only after this button. */
export function NotifyButton() {
  const state = useNotify();
  if (state === 'none') return null;
  if (state === 'refused') return <span className="note">This browser refuses notifications of this page.</span>;
  const on = state === 'on';
  return (
    <Button
      look="quiet"
      small
      onClick={() => {
        void setNotify(!on);
      }}
    >
      {on ? <BellOff aria-hidden="true" /> : <Bell aria-hidden="true" />}
      {on ? 'Turn notifications off' : 'Notify me'}
    </Button>
  );
}
