// What an app adds so that a tab shows what other tabs and other people do in its session; docs/clients.md shows these lines.
// --- snippet
/** chat() is what useChat returned last; loadHistory() reads the session's messages. The result ends it. */
export function followOthers(id, chat, loadHistory) {
  const told = new Map(); // turns that may not be on screen
  let timer, all = false, looking = false;
  const events = new EventSource(`/api/sessions/${encodeURIComponent(id)}/events`);
  events.onmessage = e => {
    const event = JSON.parse(e.data);
    if (event.type === 'session') all = true; // how it stands: now, or since what is not known
    for (const t of event.turns ?? (event.turn ? [event] : [])) told.set(t.turn, t);
    soon();
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(look, 150); }; // a stream of one's own ends at about the same time
  const busy = () => chat().status === 'submitted' || chat().status === 'streaming';
  const look = async () => {
    const { messages, setMessages, resumeStream } = chat();
    if (looking || busy()) return soon();
    const shown = t => (t.state === 'ended' || t.state === 'parked') && messages.some(m => m.id === t.message_id);
    const missed = [...told.values()].filter(t => !shown(t));
    if (missed.length === 0 && !all) return told.clear();
    looking = true;
    try {
      const history = await loadHistory();
      if (busy()) return soon(); // a message was sent meanwhile: it must stay
      all = false;
      for (const t of missed) if (told.get(t.turn) === t) told.delete(t.turn);
      const running = missed.find(t => t.state === 'running');
      setMessages(history.filter(m => m.id !== running?.message_id)); // the stream brings that one, whole
      if (running) await resumeStream();
    } finally { looking = false; }
  };
  return () => { clearTimeout(timer); events.close(); };
}
// --- end
