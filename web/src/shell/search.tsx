import { lazy, useRef } from 'react';
import { ListFilter, Search, X } from 'lucide-react';
import type { Agent, Filter } from '../api/api';
import { IconButton } from '../ui/button';
import { Late } from '../ui/late';

const FilterMenu = lazy(() => import('./filtermenu'));

export const NO_FILTER: Filter = { q: '', agent: '', state: '', archived: false };

/** Finds sessions by words of their title and their text, by agent and by state. */
export function SearchBar({ filter, agents, onChange }: { filter: Filter; agents: Agent[]; onChange: (filter: Filter) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const narrowed = filter.agent !== '' || filter.state !== '' || filter.archived;
  return (
    <div className="search" role="search">
      <Search aria-hidden="true" className="glass" />
      <input
        ref={field}
        id="session-search"
        type="search"
        className="input"
        aria-label="Search the sessions"
        placeholder="Search"
        value={filter.q}
        onChange={e => onChange({ ...filter, q: e.target.value })}
        onKeyDown={e => {
          if (e.key === 'Escape' && filter.q) {
            e.stopPropagation();
            onChange({ ...filter, q: '' });
          }
        }}
      />
      {filter.q && (
        <IconButton
          small
          label="Clear the search"
          onClick={() => {
            onChange({ ...filter, q: '' });
            field.current?.focus();
          }}
        >
          <X />
        </IconButton>
      )}
      <Late
        trigger={
          <IconButton small label="Filter the sessions" aria-pressed={narrowed}>
            <ListFilter />
          </IconButton>
        }
      >
        {opened => <FilterMenu filter={filter} agents={agents} onChange={onChange} {...opened} />}
      </Late>
    </div>
  );
}
