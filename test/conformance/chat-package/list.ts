// The list of sessions of an app, kept up to date.
import type { Session, TributaryTransport } from '@tributary/chat';

export async function follow(transport: TributaryTransport, signal: AbortSignal, show: (list: Session[]) => void) {
  let list: Session[] = [];
  for await (const event of transport.sessions({ signal })) {
    if (event.type === 'list') list = event.sessions;
    if (event.type === 'session') list = [event.session, ...list.filter(s => s.id !== event.session.id)];
    if (event.type === 'gone') list = list.filter(s => s.id !== event.id);
    show(list);
  }
}
