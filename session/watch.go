package session

import (
	"context"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// Watched is a session as somebody finds it who shows all that happens in it.
type Watched struct {
	Info Info
	// At is the number of its last record: what came up to there is how it stands.
	At uint64
	// Records yields those of the turns that are not over from their first on, then
	// whatever comes, until the session is deleted or retired, or the hub closed.
	// Some that belong to turns which were over by then may be among the first.
	Records iter.Seq2[trace.Record, error]
}

// Watch returns a session with its records. The session stays in memory until ctx
// ends or the records were read to their end.
func (h *Hub) Watch(ctx context.Context, session string) (Watched, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return Watched{}, err
	}
	defer release()
	at, err := h.Log.Last(ctx, session) // before the turns are looked at, as in catchUp
	if err != nil {
		return Watched{}, fmt.Errorf("read the log of session %q: %w", session, err)
	}
	info, _, _ := l.view()
	from := at
	for _, t := range info.Open {
		from = min(from, t.After)
	}
	return Watched{Info: info, At: at, Records: h.followRecords(ctx, session, from, true)}, nil
}

// Withdraw takes back the prompt of a principal that has waited for the shortest
// time. It reports false if none of his waits.
func (h *Hub) Withdraw(ctx context.Context, session, by string) (done bool, err error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return false, err
	}
	defer release()
	l.mu.Lock()
	var newest *turn
	for _, t := range l.turns {
		if !t.began && !t.ending && t.by == by && (newest == nil || t.id > newest.id) {
			newest = t
		}
	}
	l.mu.Unlock()
	return newest != nil && newest.finish(stopped("not_run")), nil
}

// Done is closed when the hub has closed: whoever shows what happens leaves.
func (h *Hub) Done() <-chan struct{} { return h.ctx.Done() }
