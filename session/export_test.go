package session

import "github.com/tributary-dev/tributary/trace"

// InMemory tells how many sessions are in memory, and OpenDirs how many
// directories are open.
func (h *Hub) InMemory() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// OpenDirs is described above.
func (h *Hub) OpenDirs() int {
	h.dirs.mu.Lock()
	defer h.dirs.mu.Unlock()
	return len(h.dirs.open)
}

// Digest is what records make of a session: the events after the given number, and
// the turns that are open in the end.
func Digest(records []trace.Record, after uint64) (events []Event, open []TurnStatus) {
	var d eventProjector
	for _, r := range records {
		if e, ok := d.observe(r); ok && r.Seq > after {
			events = append(events, e)
		}
	}
	return events, d.status()
}

// Titled is the title that a session gets by its first message.
func Titled(m trace.UserMessage) string { return titled(m) }
