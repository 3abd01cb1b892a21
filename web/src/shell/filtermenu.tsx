import type { Agent, Filter } from '../api/api';
import type { Opened } from '../ui/late';
import { Menu, MenuChoices, MenuRule, MenuTick } from '../ui/menu';

const STATES = [
  { value: '', name: 'Any state' },
  { value: 'running', name: 'Working' },
  { value: 'paused', name: 'Waits for you' },
  { value: 'idle', name: 'Idle' },
  { value: 'failed', name: 'Failed' },
];

interface Props extends Opened {
  filter: Filter;
  agents: Agent[];
  onChange: (filter: Filter) => void;
}

/** Which sessions the list has. */
export default function FilterMenu({ filter, agents, onChange, ...opened }: Props) {
  return (
    <Menu {...opened}>
      <MenuChoices
        label="State"
        value={filter.state}
        choices={STATES}
        onChoose={state => onChange({ ...filter, state: state as Filter['state'] })}
      />
      {agents.length > 1 && <MenuRule />}
      {agents.length > 1 && (
        <MenuChoices
          label="Agent"
          value={filter.agent}
          choices={[{ value: '', name: 'Any agent' }, ...agents.map(a => ({ value: a.name, name: a.name }))]}
          onChoose={agent => onChange({ ...filter, agent })}
        />
      )}
      <MenuRule />
      <MenuTick checked={filter.archived} onChange={archived => onChange({ ...filter, archived })}>
        Archived sessions
      </MenuTick>
    </Menu>
  );
}
