// The list of sessions by day.
import type { Session } from '../api/api';

const DAY = 86_400_000;

/** What a day is called that begins so many days before today. */
function named(days: number): string {
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days < 7) return 'This week';
  return days < 30 ? 'This month' : 'Older';
}

export interface Group {
  name: string;
  sessions: Session[];
}

/** The sessions, the last changed first, under the names of their days. */
export function grouped(list: Session[], now = new Date()): Group[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups: Group[] = [];
  for (const session of list) {
    const name = named(Math.ceil((midnight - Date.parse(session.updated_at)) / DAY));
    if (groups.at(-1)?.name === name) groups.at(-1)!.sessions.push(session);
    else groups.push({ name, sessions: [session] });
  }
  return groups;
}

/** The requests of a session that this person is asked: one who only reads along answers none. */
export const asksOf = (session: Session): string[] => (session.role === 'viewer' ? [] : (session.waiting ?? []));

/** What a session does, in one or two words; tone is the colour of its mark. */
export function stateOf(session: Session, unseen: boolean): { word: string; tone: '' | 'runs' | 'waits' | 'failed' | 'fresh' } {
  if (session.state === 'paused' || session.waiting?.length)
    return session.role === 'viewer' ? { word: 'waits for an answer', tone: '' } : { word: 'waits for you', tone: 'waits' };
  if (session.state === 'running') return { word: 'working', tone: 'runs' };
  if (session.held) return { word: session.held === 1 ? 'one prompt held' : `${session.held} prompts held`, tone: '' };
  if (session.outcome === 'failed') return { word: 'failed', tone: 'failed' };
  return unseen ? { word: 'finished', tone: 'fresh' } : { word: '', tone: '' };
}
