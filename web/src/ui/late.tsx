import { cloneElement, Suspense, useState, type ReactElement, type ReactNode } from 'react';

interface Trigger {
  onClick?: () => void;
  'aria-haspopup'?: 'menu' | 'dialog';
}

/** What a menu or a panel needs that is loaded at its first use. */
export interface Opened {
  trigger: ReactElement;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

interface Props {
  trigger: ReactElement<Trigger>;
  kind?: 'menu' | 'dialog';
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children: (opened: Opened) => ReactNode;
}

/** A button whose menu or panel, a lazy component, is loaded when somebody opens it: the first paint needs none of them. */
export function Late({ trigger, kind = 'menu', open: given, onOpenChange, children }: Props) {
  const [used, setUsed] = useState(false),
    [own, setOwn] = useState(false);
  const open = given ?? own,
    set = onOpenChange ?? setOwn;
  if (!used && !open)
    return cloneElement(trigger, {
      'aria-haspopup': kind,
      onClick: () => {
        setUsed(true);
        set(true);
      },
    });
  if (!used) setUsed(true);
  return <Suspense fallback={trigger}>{children({ trigger, open, onOpenChange: set })}</Suspense>;
}
