import { Inbox, SquarePen, X } from 'lucide-react';
import { isFiltered, type Agent, type Filter, type Session } from '../api/api';
import { useFound } from '../api/found';
import type { Sessions } from '../api/sessions';
import { Button, IconButton } from '../ui/button';
import { Account } from './account';
import type { Acting } from './acting';
import { SessionList } from './list';
import { NO_FILTER, SearchBar } from './search';

interface Props {
  sessions: Sessions;
  agents: Agent[];
  current: string | null;
  inbox: boolean;
  waiting: number;
  filter: Filter;
  acting: Acting;
  onFilter: (filter: Filter) => void;
  onNew: () => void;
  onInbox: () => void;
  onOpen: (id: string) => void;
  onClose: () => void;
}

export function Sidebar({ sessions, agents, current, inbox, waiting, filter, acting, onFilter, onNew, onInbox, onOpen, onClose }: Props) {
  const found = useFound(filter, sessions.list),
    filtered = isFiltered(filter);
  const list = filtered ? (found?.list ?? null) : sessions.list,
    more = filtered ? found?.more : sessions.more;
  return (
    <nav className="side" id="sessions" aria-label="Sessions">
      <div className="brand">
        <img src="/favicon.svg" alt="" width="20" height="20" />
        <span className="grow">Tributary</span>
        <IconButton small className="only-narrow" label="Close the list" onClick={onClose}>
          <X />
        </IconButton>
      </div>
      <div className="side-rows">
        <button type="button" className="side-row" onClick={onNew}>
          <SquarePen aria-hidden="true" />
          <span className="grow">New session</span>
        </button>
        <button
          type="button"
          className={inbox ? 'side-row current' : 'side-row'}
          aria-current={inbox ? 'page' : undefined}
          onClick={onInbox}
        >
          <Inbox aria-hidden="true" />
          <span className="grow">Inbox</span>
          {waiting > 0 && (
            <span className="count">
              <span className="unseen">waiting: </span>
              {waiting}
            </span>
          )}
        </button>
      </div>
      <SearchBar filter={filter} agents={agents} onChange={onFilter} />
      {(filter.agent || filter.state || filter.archived) && (
        <p className="side-note">
          {words(filter)}{' '}
          <Button look="quiet" small onClick={() => onFilter({ ...NO_FILTER, q: filter.q })}>
            Show all
          </Button>
        </p>
      )}
      <div className="side-list">
        {list && list.length > 0 && <SessionList list={list} current={current} acting={acting} onOpen={onOpen} />}
        {found?.problem && (
          <p className="side-note" role="alert">
            {found.problem}
          </p>
        )}
        <p className="side-note" role="status">
          {note(list, filtered, sessions)}
        </p>
        {more && (
          <Button look="quiet" small className="older" onClick={more}>
            Older sessions
          </Button>
        )}
      </div>
      <Account again={sessions.problem} />
    </nav>
  );
}

function note(list: Session[] | null, filtered: boolean, { problem }: Sessions): string {
  if (list?.length !== 0 || problem) return '';
  return filtered ? 'No session has all of these words.' : 'No sessions yet.';
}

const words = ({ agent, state, archived }: Filter) =>
  [
    archived && 'Archived',
    state && { idle: 'Idle', running: 'Working', paused: 'Waiting', failed: 'Failed' }[state],
    agent && `With ${agent}`,
  ]
    .filter(Boolean)
    .join(', ');
