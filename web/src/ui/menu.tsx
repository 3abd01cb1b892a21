import type { ReactElement, ReactNode } from 'react';
import { Menu as Base } from '@base-ui/react/menu';
import { Check } from 'lucide-react';

interface Props {
  trigger: ReactElement;
  children: ReactNode;
  align?: 'start' | 'center' | 'end';
  side?: 'top' | 'bottom';
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

/** A button (trigger) with a menu of MenuItem, MenuChoices, MenuRule and MenuLabel. */
export function Menu({ trigger, children, align = 'end', side = 'bottom', open, onOpenChange }: Props) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange} modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="positioner" sideOffset={4} align={align} side={side}>
          <Base.Popup className="popup list">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface ItemProps {
  icon?: ReactNode;
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}

export function MenuItem({ icon, keys, danger, disabled, onSelect, children }: ItemProps) {
  return (
    <Base.Item className={danger ? 'item danger' : 'item'} disabled={disabled} onClick={onSelect}>
      {icon}
      <span className="grow">{children}</span>
      {keys && <span className="kbd">{keys}</span>}
    </Base.Item>
  );
}

/** An item that downloads a file or opens a page. */
export function MenuLink({
  icon,
  href,
  download,
  children,
}: {
  icon?: ReactNode;
  href: string;
  download?: string | boolean;
  children: ReactNode;
}) {
  return (
    <Base.LinkItem className="item" href={href} download={download} closeOnClick>
      {icon}
      <span className="grow">{children}</span>
    </Base.LinkItem>
  );
}

export interface Choice {
  value: string;
  name: string;
  note?: string;
  disabled?: boolean;
}

/** One of several values. */
export function MenuChoices({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: string;
  choices: Choice[];
  onChoose: (value: string) => void;
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="group-label">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={v => onChoose(v as string)}>
        {choices.map(c => (
          <Base.RadioItem key={c.value} value={c.value} className="item" disabled={c.disabled} closeOnClick>
            <span className="tick">
              <Base.RadioItemIndicator>
                <Check />
              </Base.RadioItemIndicator>
            </span>
            <span className="grow">
              {c.name}
              {c.note && <span className="note">{c.note}</span>}
            </span>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

/** A tick that is set or not. */
export function MenuTick({ checked, onChange, children }: { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode }) {
  return (
    <Base.CheckboxItem className="item" checked={checked} onCheckedChange={onChange}>
      <span className="tick">
        <Base.CheckboxItemIndicator>
          <Check />
        </Base.CheckboxItemIndicator>
      </span>
      <span className="grow">{children}</span>
    </Base.CheckboxItem>
  );
}

export const MenuRule = () => <Base.Separator className="rule" />;
