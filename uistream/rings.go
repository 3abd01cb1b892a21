package uistream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed says that the Rings were closed.
var ErrClosed = errors.New("the gateway is stopping")

// ErrTooSlow says that a client was cut because it did not keep up.
var ErrTooSlow = errors.New("the client was too slow to follow the turn")

// Dismissal is the cause of a context that ends a stream because its client may not
// have the rest. The gateway ended the stream, not the client.
type Dismissal struct {
	// The client gets Code and Sentence.
	Code, Sentence string
	reason         string
}

func (d *Dismissal) Error() string { return d.reason }

// ErrExpired ends the streams of a client whose token counts no more, and ErrPutOut
// those of one who may see the session no more.
var (
	ErrExpired = &Dismissal{"token_expired", "Your sign-in has expired: sign in again to see the rest of the answer.", "the client's token has expired"}
	ErrPutOut  = &Dismissal{"foreign_session", "This session is not yours any more.", "the client may see the session no more"}
)

// Dismissed reports whether, and why, the gateway has ended the context of a client's
// stream.
func Dismissed(ctx context.Context) (*Dismissal, bool) {
	return errors.AsType[*Dismissal](context.Cause(ctx))
}

// Key names one turn as one kind of client sees it.
type Key struct {
	Session, Turn string
	Options       Options
}

// RingsConfig says how turns are followed.
type RingsConfig struct {
	Framing Framing
	// Window is how many bytes of a turn are kept for those who follow; 1 MB if zero.
	// A subscriber that falls further behind is cut.
	Window int
	// Idle is how long a turn that nobody follows stays in memory; 10 s if zero.
	Idle time.Duration
}

// Rings lets any number of clients follow turns: each turn is read, translated and
// encoded once per kind of client. No subscriber can hold a turn up. Rings is safe
// for concurrent use.
type Rings struct {
	config RingsConfig
	ctx    context.Context //nolint:containedctx // the life of the Rings
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup
	cost   cost

	mu     sync.Mutex
	rings  map[Key]*ring
	closed bool
}

// NewRings returns Rings, which the caller must Close.
func NewRings(c RingsConfig) *Rings {
	if c.Window <= 0 {
		c.Window = 1 << 20
	}
	if c.Idle <= 0 {
		c.Idle = 10 * time.Second
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Rings{config: c, ctx: ctx, cancel: cancel, rings: map[Key]*ring{}}
}

// Framing is the framing of everything that Serve writes.
func (rs *Rings) Framing() Framing { return rs.config.Framing }

// Close ends all reading and waits for it. Streams that are being served end
// with an error.
func (rs *Rings) Close() {
	rs.mu.Lock()
	rs.closed = true
	for _, r := range rs.rings {
		rs.forget(r)
	}
	rs.mu.Unlock()
	rs.cancel(ErrClosed)
	rs.tasks.Wait()
}

// acquire returns the ring of the key and makes sure that it stays.
func (rs *Rings) acquire(key Key, source Source) (*ring, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return nil, ErrClosed
	}
	r, ok := rs.rings[key]
	if !ok || r.failed() {
		ctx, cancel := context.WithCancel(rs.ctx)
		r = newRing(key, rs.config.Window, cancel)
		rs.rings[key] = r
		rs.tasks.Go(func() {
			defer cancel()
			r.run(ctx, source, rs.config.Framing, &rs.cost)
		})
	}
	r.users++
	if r.idle != nil {
		r.idle.Stop()
		r.idle = nil
	}
	return r, nil
}

// release lets the ring die once nobody has come back for a while.
func (rs *Rings) release(r *ring) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.users--
	if r.users > 0 {
		return
	}
	if rs.closed || rs.rings[r.key] != r {
		r.cancel()
		return
	}
	r.idle = time.AfterFunc(rs.config.Idle, func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if r.users == 0 {
			rs.forget(r)
			r.cancel()
		}
	})
}

// forget takes the ring off the list; its subscribers may go on.
func (rs *Rings) forget(r *ring) {
	if rs.rings[r.key] == r {
		delete(rs.rings, r.key)
	}
	if r.idle != nil {
		r.idle.Stop()
		r.idle = nil
	}
	if r.users == 0 {
		r.cancel()
	}
}

func (r *ring) failed() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.over && r.err != nil
}
