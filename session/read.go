package session

import (
	"context"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads the log of a session.

// Filter says which records of a session a reader gets: durable ones with a greater number than
// After, as far as there are any now.
type Filter struct {
	After uint64
	// Upto is the number of the last record that may come; 0: any may.
	Upto uint64
	// Turn chooses the records of one turn, up to its stop; "" chooses all.
	Turn string
	// Deltas says that ephemeral records come too.
	Deltas bool
	// Live says that the reader waits for more records, until the session is deleted, the hub
	// closes, or the context ends. The session stays in memory as long as it is read.
	Live bool
}

// Records yields records of a session. An error is the last thing that it yields.
func (h *Hub) Records(ctx context.Context, session string, f Filter) (iter.Seq2[trace.Record, error], error) {
	if _, err := h.Get(ctx, session); err != nil {
		return nil, err
	}
	return func(yield func(trace.Record, error) bool) {
		if err := h.use(ctx, session, func(l *activeSession) error { l.records(ctx, f)(yield); return nil }); err != nil {
			yield(trace.Record{}, err)
		}
	}, nil
}

// records is Hub.Records for a session that stays in memory.
func (l *activeSession) records(ctx context.Context, f Filter) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		reading := ctx
		if f.Live {
			life, cancel := during(ctx, l.life)
			defer cancel()
			reading = life
		}
		for r, err := range l.source(reading, f) {
			switch {
			case err != nil:
				yield(trace.Record{}, l.notRead(err))
				return
			case f.Upto != 0 && r.Seq > f.Upto:
				return
			case f.Turn != "" && r.Turn != f.Turn:
			case !yield(r, nil), f.Turn != "" && r.Payload.Kind() == trace.KindStop:
				return
			}
		}
	}
}

func (l *activeSession) source(ctx context.Context, f Filter) iter.Seq2[trace.Record, error] {
	switch log := l.hub.Log; {
	case f.Live && f.Deltas:
		return log.Follow(ctx, l.id, f.After)
	case f.Live:
		return log.FollowDurable(ctx, l.id, f.After)
	case f.Deltas:
		return log.After(ctx, l.id, f.After)
	default:
		return log.Durable(ctx, l.id, f.After, f.Upto)
	}
}

// recordAt is the durable record with a number; its payload is nil if there is none.
func (l *activeSession) recordAt(ctx context.Context, seq uint64) (trace.Record, error) {
	for r, err := range l.records(ctx, Filter{After: seq - 1, Upto: seq}) {
		return r, err
	}
	return trace.Record{}, nil
}

// OpenFrom returns a session as it stands, and the number after which the records are of the turns that
// are not over. Some of other turns may be among them.
func (h *Hub) OpenFrom(ctx context.Context, session string) (info Info, after uint64, err error) {
	after, err = h.Log.Last(ctx, session) // before the turns are looked at
	if err != nil {
		return Info{}, 0, fmt.Errorf("read the log of session %q: %w", session, err)
	}
	s, err := h.Get(ctx, session)
	for _, t := range s.Open {
		after = min(after, t.After)
	}
	return s.Info, after, err
}

// Done is closed when the hub has closed, so that readers of events leave.
func (h *Hub) Done() <-chan struct{} { return h.ctx.Done() }

// Reader reads the log of a session for one subscriber of a turn. The session stays in
// memory until Close.
type Reader struct {
	hub   *Hub
	turn  Turn
	after uint64 // the records of the turn that the subscriber gets have greater numbers
	open  *turn  // nil: it is over
	ended <-chan struct{}
	close func()
}

// Read returns a Reader, which the caller must Close. The Reader skips the prompt of a turn
// in memory: no stream shows it, and it may be large.
func (h *Hub) Read(t Turn) *Reader {
	l, open, release := h.lookup(t.Session, t.ID)
	r := &Reader{hub: h, turn: t, after: t.After, open: open, ended: alreadyEnded, close: release}
	if open == nil {
		return r
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if layout, ok := l.thread.Layout(t.ID); ok && !open.agentInitiated {
		r.after = max(r.after, layout.Prompted)
	}
	l.readers.Begin()
	r.ended, r.close = open.ended, func() {
		l.readers.End()
		release()
	}
	return r
}

// Records yields the records of the session with a greater number that are there now; the
// turn's are among them.
func (r *Reader) Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
	return r.hub.Log.After(ctx, r.turn.Session, max(after, r.after))
}

// Recent is Records for a reader that follows the turn, if memory has them all.
func (r *Reader) Recent(after uint64) (records []trace.Record, all bool) {
	return r.hub.Log.Recent(r.turn.Session, max(after, r.after))
}

// Watch has woken, whose capacity is one, get a value after there may be more records, and after the turn has Ended, until
// stop is called.
func (r *Reader) Watch(woken chan<- struct{}) (stop func()) {
	return r.hub.Log.Watch(r.turn.Session, false, woken)
}

// Ended is closed once nothing is written to the turn any more.
func (r *Reader) Ended() <-chan struct{} { return r.ended }

// Held reports whether the turn has Ended because its prompt is held.
func (r *Reader) Held() bool {
	l := r.hub.ifInMemory(r.turn.Session)
	return l != nil && l.document().isHeld(r.turn.ID)
}

// Detached reports whether the turn has Ended here because it goes on at its agent's server, and another gateway or the next
// start of this one goes on with it.
func (r *Reader) Detached() bool {
	return r.open != nil && r.open.standsAt() == turnstate.Detached
}

// leaveReaders tells those who read the turn that nothing more is written to it.
func (t *turn) leaveReaders() {
	close(t.ended)
	t.session.hub.Log.Wake(t.session.id)
}

// Close ends the reading.
func (r *Reader) Close() { r.close() }

//nolint:gochecknoglobals // never written
var alreadyEnded = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
