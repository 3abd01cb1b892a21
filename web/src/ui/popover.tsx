import type { ReactElement, ReactNode } from 'react';
import { Popover as Base } from '@base-ui/react/popover';

interface Props {
  trigger: ReactElement;
  title: string;
  children: ReactNode;
  align?: 'start' | 'center' | 'end';
  side?: 'top' | 'bottom';
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

/** A button (trigger) with a small panel; the title is its name for screen readers. */
export default function Popover({ trigger, title, children, align = 'end', side = 'bottom', open, onOpenChange }: Props) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="positioner" sideOffset={6} align={align} side={side}>
          <Base.Popup className="popup body">
            <Base.Title className="unseen">{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
