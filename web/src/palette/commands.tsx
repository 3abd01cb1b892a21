// All that the command menu can do, with the words by which it is found.
import type { ReactNode } from 'react';
import {
  Archive,
  ArchiveRestore,
  Download,
  FileDiff,
  Inbox,
  Keyboard,
  Link,
  LogOut,
  Pencil,
  Search,
  Square,
  SquarePen,
  SunMoon,
  Trash2,
} from 'lucide-react';
import type { Agent, Session } from '../api/api';
import { signOut } from '../api/signin';
import { attempt, type Acting } from '../shell/acting';
import { go, goTo } from '../shell/route';
import { setTheme, type Theme } from '../style/theme';
import { KEYS } from './keys';

export interface Command {
  name: string;
  icon: ReactNode;
  words?: string[];
  keys?: string;
  danger?: boolean;
  run: () => void;
}
export interface Group {
  name: string;
  commands: Command[];
}

export interface Context {
  /** The session that is shown, if one is. */
  session: Session | undefined;
  agents: Agent[];
  acting: Acting;
  onNew: (agent?: string) => void;
  onSearch: () => void;
  onKeys: () => void;
}

const THEMES: { theme: Theme; name: string }[] = [
  { theme: 'system', name: 'Theme: as the system' },
  { theme: 'light', name: 'Theme: light' },
  { theme: 'dark', name: 'Theme: dark' },
];

function ofSession(session: Session, acting: Acting): Command[] {
  const owns = session.role === 'owner' || session.role === 'admin',
    writes = session.role !== 'viewer';
  const all: (Command | false)[] = [
    writes &&
      session.state !== 'idle' && {
        name: 'Stop the turn',
        icon: <Square />,
        words: ['cancel', 'end'],
        keys: KEYS.stop,
        run: () => acting.stop(session),
      },
    { name: 'Review the changes', icon: <FileDiff />, words: ['diff', 'files'], run: () => go(session.id, 'review') },
    writes && { name: 'Rename', icon: <Pencil />, words: ['title'], keys: KEYS.rename, run: () => acting.startRename(session, 'header') },
    { name: 'Copy link', icon: <Link />, words: ['share', 'address'], run: () => acting.copyLink(session) },
    {
      name: 'Export…',
      icon: <Download />,
      words: ['download', 'markdown', 'json', 'trace', 'atif', 'otlp'],
      run: () => acting.askExport(session),
    },
    writes &&
      (session.archived
        ? { name: 'Take out of the archive', icon: <ArchiveRestore />, words: ['restore'], run: () => acting.archive(session, false) }
        : { name: 'Archive', icon: <Archive />, words: ['hide', 'done'], run: () => acting.archive(session, true) }),
    owns && { name: 'Delete…', icon: <Trash2 />, words: ['remove'], danger: true, run: () => acting.askDelete(session) },
  ];
  return all.filter(c => c !== false);
}

export function commands({ session, agents, acting, onNew, onSearch, onKeys }: Context, signedIn: boolean): Group[] {
  const page: (Command | false)[] = [
    { name: 'New session', icon: <SquarePen />, words: ['chat', 'start'], keys: KEYS.new, run: () => onNew() },
    ...(agents.length > 1
      ? agents
          .filter(a => a.available !== false)
          .map(a => ({
            name: `New session with ${a.name}`,
            icon: <SquarePen />,
            words: ['agent', 'start'],
            run: () => onNew(a.default ? '' : a.name),
          }))
      : []),
    {
      name: 'Inbox',
      icon: <Inbox />,
      words: ['requests', 'permissions', 'questions', 'waiting'],
      keys: KEYS.inbox,
      run: () => goTo({ at: 'inbox' }),
    },
    { name: 'Search the sessions', icon: <Search />, words: ['find'], keys: KEYS.search, run: onSearch },
    ...THEMES.map(({ theme, name }) => ({ name, icon: <SunMoon />, words: ['colours', 'appearance'], run: () => setTheme(theme) })),
    { name: 'Keys', icon: <Keyboard />, words: ['keyboard', 'shortcuts', 'help'], keys: KEYS.keys, run: onKeys },
    signedIn && {
      name: 'Sign out',
      icon: <LogOut />,
      words: ['log out', 'leave'],
      run: () => attempt(signOut()),
    },
  ];
  return [
    ...(session ? [{ name: 'This session', commands: ofSession(session, acting) }] : []),
    { name: 'Tributary', commands: page.filter(c => c !== false) },
  ];
}
