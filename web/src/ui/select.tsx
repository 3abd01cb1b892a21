import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { Choice } from './menu';

interface Props {
  label: string;
  value: string;
  choices: Choice[];
  onChange: (value: string) => void;
  small?: boolean;
  quiet?: boolean;
  disabled?: boolean;
}

/** One value of a list. label is its name for screen readers. */
export function Select({ label, value, choices, onChange, small, quiet, disabled }: Props) {
  return (
    <Base.Root
      items={choices.map(c => ({ value: c.value, label: c.name }))}
      value={value}
      onValueChange={v => onChange(v as string)}
      disabled={disabled}
      modal={false}
    >
      <Base.Trigger aria-label={label} className={`btn select ${quiet ? 'quiet' : 'plain'}${small ? ' small' : ''}`}>
        <span className="chosen">
          <Base.Value />
        </span>
        <Base.Icon>
          <ChevronsUpDown />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="positioner" sideOffset={4} alignItemWithTrigger={false} align="start">
          <Base.Popup className="popup list">
            {choices.map(c => (
              <Base.Item key={c.value} value={c.value} disabled={c.disabled} className="item">
                <span className="tick">
                  <Base.ItemIndicator>
                    <Check />
                  </Base.ItemIndicator>
                </span>
                <span className="grow">
                  <Base.ItemText>{c.name}</Base.ItemText>
                  {c.note && <span className="note">{c.note}</span>}
                </span>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
