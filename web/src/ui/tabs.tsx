import type { ReactNode } from 'react';
import { Tabs as Base } from '@base-ui/react/tabs';

interface Props {
  label: string;
  tabs: { value: string; name: ReactNode; body: ReactNode }[];
  value: string;
  onChange: (value: string) => void;
}

export function Tabs({ label, tabs, value, onChange }: Props) {
  return (
    <Base.Root value={value} onValueChange={v => onChange(v as string)}>
      <Base.List className="tabs" aria-label={label}>
        {tabs.map(t => (
          <Base.Tab key={t.value} value={t.value} className="tab">
            {t.name}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(t => (
        <Base.Panel key={t.value} value={t.value}>
          {t.body}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
