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

// ListReaders tells how many readers the list has, and ListBacklog how many changes wait
// for the one that is furthest behind.
func (h *Hub) ListReaders() int {
	h.board.mu.Lock()
	defer h.board.mu.Unlock()
	return len(h.board.readers)
}

// ListBacklog is described above.
func (h *Hub) ListBacklog() (most int) {
	h.board.mu.Lock()
	defer h.board.mu.Unlock()
	for r := range h.board.readers {
		most = max(most, len(r.changed))
	}
	return most
}

// The kinds of locks that WatchLocks tells of.
const (
	Token     = int(token)
	OfSession = int(ofSession)
)

// WatchLocks has a function called before each lock is taken, and after it is given back.
func WatchLocks(f func(kind int, taken bool)) {
	watchLock = func(k lockKind, taken bool) { f(int(k), taken) }
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
	if len(records) == 0 {
		return events, nil
	}
	return events, d.status(records[len(records)-1].Seq)
}

// Titled is the title that a session gets by its first message.
func Titled(m trace.UserMessage) string { return titled(m) }
