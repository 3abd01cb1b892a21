// What an app adds so that a tab shows what other tabs and other people do in its session; docs/clients.md shows these lines.
// --- snippet
/** chat() is what useChat returned last; loadHistory() reads the session's messages. The result ends it. */
export function followOthers(id, chat, loadHistory) {
  const told = new Map(); // turns that may not be on screen
  let timer;
  const events = new EventSource(`/api/sessions/${encodeURIComponent(id)}/events`);
  events.onmessage = e => {
    const event = JSON.parse(e.data);
    for (const t of event.turns ?? (event.turn ? [event] : [])) told.set(t.turn, t);
    if (event.reset) told.set('', { state: 'unknown' });
    soon();
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(look, 150); }; // a stream of one's own ends at about the same time
  const look = async () => {
    const { status, messages, setMessages, resumeStream } = chat();
    if (status === 'submitted' || status === 'streaming') return soon();
    const shown = t => (t.state === 'ended' || t.state === 'parked') && messages.some(m => m.id === t.message_id);
    const missed = [...told.values()].filter(t => !shown(t));
    told.clear();
    if (missed.length === 0) return;
    const running = missed.find(t => t.state === 'running');
    setMessages((await loadHistory()).filter(m => m.id !== running?.message_id)); // the stream brings that one, whole
    if (running) resumeStream();
  };
  return () => { clearTimeout(timer); events.close(); };
}
// --- end
