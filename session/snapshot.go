package session

import (
	"context"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// This file gives a session with all its records to a client that shows them.

// Snapshot is a session as somebody finds it who shows all that happens in it.
type Snapshot struct {
	Info Info
	// Past yields, up to the last record that there is, those of the turns that are
	// not over. Some of others may be among them.
	Past iter.Seq2[trace.Record, error]
	// Next yields what comes after that, until the session is deleted, the hub closed,
	// or ctx ended. The session stays in memory as long as it is read.
	Next iter.Seq2[trace.Record, error]
}

// Snapshot returns a session with its records.
func (h *Hub) Snapshot(ctx context.Context, session string) (Snapshot, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return Snapshot{}, err
	}
	defer release()
	at, err := h.Log.Last(ctx, session) // before the turns are looked at, as in catchUp
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the log of session %q: %w", session, err)
	}
	info := l.view().Info
	from := at
	for _, t := range info.Open {
		from = min(from, t.After)
	}
	past := func(yield func(trace.Record, error) bool) {
		if from == at {
			return
		}
		for r, err := range h.Log.After(ctx, session, from) {
			if err == nil && r.Seq > at || !yield(r, err) {
				return
			}
		}
	}
	return Snapshot{Info: info, Past: past, Next: h.followRecords(ctx, session, at, true)}, nil
}

// Done is closed when the hub has closed, so that readers of events leave.
func (h *Hub) Done() <-chan struct{} { return h.ctx.Done() }
