// The command menu: sessions by their words, and all that can be done, from one field.
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Command as Menu, defaultFilter } from 'cmdk';
import { MessageSquare } from 'lucide-react';
import type { Filter, Session } from '../api/api';
import { useFound } from '../api/found';
import { me } from '../api/signin';
import { ago } from '../ask/words';
import { go } from '../shell/route';
import { NO_FILTER } from '../shell/search';
import { Dialog } from '../ui/dialog';
import { commands, type Command, type Context } from './commands';
import './palette.css';

const RECENT = 6,
  FOUND = 20;

interface Props extends Context {
  list: Session[] | null;
  onClose: () => void;
}

export default function Palette({ list, onClose, ...context }: Props) {
  const [query, setQuery] = useState(''),
    words = query.trim();
  const field = useRef<HTMLInputElement>(null);
  const [signedIn, setSignedIn] = useState(false);
  useEffect(() => {
    void me().then(who => setSignedIn(who?.signed_in === true && who.user !== null));
  }, []);
  const filter = useMemo<Filter>(() => ({ ...NO_FILTER, q: words }), [words]);
  const found = useFound(filter, list),
    searching = words !== '' && found?.list === null && !found.problem;
  const sessions =
    words === '' ? (list ?? []).filter(s => s.id !== context.session?.id).slice(0, RECENT) : (found?.list ?? []).slice(0, FOUND);
  const groups = commands(context, signedIn)
    .map(g => ({ ...g, commands: matching(g.commands, words) }))
    .filter(g => g.commands.length > 0);
  const run = (what: () => void) => {
    onClose();
    setTimeout(what);
  }; // the dialog gives the keyboard back first
  const own = groups.map(g => (
    <Section key={g.name} name={g.name}>
      {g.commands.map(c => (
        <Row key={c.name} value={`${g.name} ${c.name}`} {...c} onSelect={() => run(c.run)} />
      ))}
    </Section>
  ));
  const theirs = sessions.length > 0 && (
    <Section key="sessions" name={words === '' ? 'Recent sessions' : 'Sessions'}>
      {sessions.map(s => (
        <Row
          key={s.id}
          value={`session ${s.id}`}
          name={s.title || 'Untitled'}
          note={`${s.agent} · ${ago(s.updated_at)}`}
          icon={<MessageSquare />}
          onSelect={() => run(() => go(s.id))}
        />
      ))}
    </Section>
  );
  return (
    <Dialog title="Command menu" bare wide initialFocus={field} onClose={onClose}>
      <Menu label="Command menu" shouldFilter={false} loop className="palette">
        <Menu.Input
          ref={field}
          className="palette-field"
          value={query}
          onValueChange={setQuery}
          placeholder="Find a session or a command"
        />
        <Menu.List className="palette-list" label="Commands and sessions">
          {words === '' ? [theirs, own] : [own, theirs]}
        </Menu.List>
        <p className="palette-note" role="status">
          {found?.problem ??
            (searching ? 'Searching…' : groups.length === 0 && sessions.length === 0 ? 'No session and no command has these words.' : '')}
        </p>
      </Menu>
    </Dialog>
  );
}

/** The commands that fit the words, the best first. */
function matching(all: Command[], words: string): Command[] {
  if (words === '') return all;
  return all
    .map(c => ({ c, score: defaultFilter(c.name, words, c.words) }))
    .filter(({ score }) => score > 0.1)
    .sort((a, b) => b.score - a.score)
    .map(({ c }) => c);
}

const Section = ({ name, children }: { name: string; children: ReactNode }) => <Menu.Group heading={name}>{children}</Menu.Group>;

interface RowProps {
  value: string;
  name: string;
  icon: ReactNode;
  note?: string;
  keys?: string;
  danger?: boolean;
  onSelect: () => void;
}

const Row = ({ value, name, icon, note, keys, danger, onSelect }: RowProps) => (
  <Menu.Item value={value} className={danger ? 'item danger' : 'item'} onSelect={onSelect}>
    {icon}
    <span className="grow">{name}</span>
    {note && <span className="palette-about">{note}</span>}
    {keys && <kbd className="kbd">{keys}</kbd>}
  </Menu.Item>
);
