import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import { IconButton } from './button';

const manager = Toast.createToastManager();

/** Shows a sentence for some seconds, with something that can be done about it. */
export function toast(words: string, { action, bad }: { action?: { name: string; run: () => void }; bad?: boolean } = {}) {
  const id = manager.add({
    title: words,
    type: bad ? 'bad' : 'plain',
    priority: bad ? 'high' : 'low',
    timeout: action || bad ? 10_000 : 5_000,
    actionProps: action && {
      children: action.name,
      onClick: () => {
        manager.close(id);
        action.run();
      },
    },
  });
}

/** Where the sentences stand; once on the page. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map(t => (
    <Toast.Root key={t.id} toast={t} className="toast" swipeDirection={['right', 'down']}>
      <Toast.Title className="words" render={<p />} />
      {t.actionProps && <Toast.Action className="btn small" />}
      <Toast.Close render={<IconButton label="Dismiss" small />}>
        <X />
      </Toast.Close>
    </Toast.Root>
  ));
}
