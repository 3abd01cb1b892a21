package session

import (
	"context"
	"iter"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads the log for one subscriber.

// Reader reads the log of a session for one subscriber of a turn. The session stays in
// memory until Close.
type Reader struct {
	log     *eventlog.Log
	watch   *eventlog.Watch
	session string
	after   uint64 // the turn's records have greater numbers
	// prompted is the number of the turn's prompt; 0: not known.
	prompted uint64
	ended    <-chan struct{}
	held     func() bool
	release  []func()
}

// Read returns a Reader, which the caller must Close. The Reader skips the prompt of a turn
// in memory: no stream shows it, and it may be large.
func (h *Hub) Read(t Turn) *Reader {
	r := h.reader(t)
	r.after = max(r.after, r.prompted)
	return r
}

// reader is Read with the turn's prompt.
func (h *Hub) reader(t Turn) *Reader {
	l, open, release := h.lookup(t.Session, t.ID)
	r := &Reader{log: h.Log, watch: h.Log.Watch(t.Session), session: t.Session, after: t.After, ended: alreadyEnded, release: []func(){release}}
	r.held = func() bool { return h.isHeld(t.Session, t.ID) }
	if open != nil {
		l.mu.Lock()
		if layout, ok := l.thread.Layout(t.ID); ok && !open.agentInitiated {
			r.prompted = layout.Prompted
		}
		l.mu.Unlock()
		r.ended, r.release = open.ended, append(r.release, l.read())
	}
	return r
}

// Records yields the records of the session with a greater number that are there now; the
// turn's are among them.
func (r *Reader) Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
	return r.log.After(ctx, r.session, max(after, r.after))
}

// Recent is Records for a reader that follows the turn, if memory has them all.
func (r *Reader) Recent(after uint64) (records []trace.Record, all bool) {
	return r.log.Recent(r.session, max(after, r.after))
}

// Changed returns a channel that closes when there may be more records. Take it, read,
// then wait for it.
func (r *Reader) Changed() <-chan struct{} { return r.watch.Appended() }

// Ended is closed once nothing is written to the turn any more.
func (r *Reader) Ended() <-chan struct{} { return r.ended }

// Held reports whether the turn has Ended because its prompt is held.
func (r *Reader) Held() bool { return r.held() }

func (r *Reader) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Close ends the reading.
func (r *Reader) Close() {
	r.watch.Close()
	for _, release := range r.release {
		release()
	}
}

//nolint:gochecknoglobals // never written
var alreadyEnded = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
