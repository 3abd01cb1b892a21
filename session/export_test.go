package session

import (
	"context"
	"errors"
	"iter"

	"github.com/tributary-dev/tributary/session/lockorder"
	"github.com/tributary-dev/tributary/trace"
)

// ErrUnfinished says that a turn has ended and its stop is not on record.
var ErrUnfinished = errors.New("the end of this turn is not on record")

// Follow yields the records of a turn as a subscriber gets them, with its prompt, up to its stop.
func (h *Hub) Follow(ctx context.Context, session, turn string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		reader := h.Read(Turn{Session: session, ID: turn, After: after})
		defer reader.Close()
		reader.after = after
		woken := make(chan struct{}, 1)
		defer reader.Watch(woken)()
		for {
			ended := false
			select {
			case <-reader.Ended():
				ended = true
			default:
			}
			for r, err := range reader.Records(ctx, after) {
				if err != nil {
					yield(trace.Record{}, err)
					return
				}
				after = r.Seq
				if r.Turn != turn {
					continue
				}
				if _, over := r.Payload.(trace.Stop); !yield(r, nil) || over {
					return
				}
			}
			if ended {
				yield(trace.Record{}, ErrUnfinished)
				return
			}
			select {
			case <-woken:
			case <-ctx.Done():
				return
			}
		}
	}
}

// InMemory tells how many sessions are in memory, and OpenDirs how many
// directories are open.
func (h *Hub) InMemory() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// OpenDirs is described above.
func (h *Hub) OpenDirs() int {
	return h.dirs.Len()
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
	Token     = int(lockorder.Token)
	OfSession = int(lockorder.OfSession)
)

// WatchLocks has a function called before each lock is taken, and after it is given back.
func WatchLocks(f func(kind int, taken bool)) {
	lockorder.Watch = func(k lockorder.Kind, taken bool) { f(int(k), taken) }
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
