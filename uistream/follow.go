package uistream

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Span says which part of a turn a client gets. The zero Span is the first
// message, up to where it waits for somebody.
type Span struct {
	// From is the number of the first record that the client gets. That of a
	// reply gives its message; a later one gives the rest of a message that the
	// client has already, after a start with the same id.
	From uint64
	// Past is the number of the last park that is passed over, because what it
	// waited for has been answered. At the first later one the response ends.
	Past uint64
	// Upto is the number of the last record that the client gets of a park that still
	// waits: some of what it asks has its answer. Zero is the park itself.
	Upto uint64
	// Again goes right after the start of the rest of a message: what the client
	// has answered and is to forget the answer of.
	Again []Chunk
}

// tooSlow is how long a client must have let a write wait before it is to blame
// for having fallen behind.
const tooSlow = time.Second

// Serve writes one assistant message of a turn to the client as it grows: until it is
// over, the turn stops, or it parks. Then it returns nil. Otherwise the client did not
// get the end. Either the client has gone (the error of ctx, or of a write). Or the
// client got the reason of another failure ([ErrTooSlow], [ErrClosed], a [Dismissal] if
// that is the cause of ctx, or an error of the source). The handler must not write
// afterwards, and defers [Writer.Close].
func (rs *Rings) Serve(ctx context.Context, w *Writer, key Key, source Source, span Span) error {
	r, err := rs.acquire(key, source) //nolint:contextcheck // a ring is for all who follow and outlives the first of them
	if err != nil {
		return w.give(err, "The gateway is stopping: reload the page in a moment.")
	}
	defer rs.release(r)
	if err := w.Begin(); err != nil {
		return err
	}
	f := &follower{ring: r, w: w, span: span}
	return f.run(ctx, source, rs.config.Framing)
}

// follower is one client that follows a turn.
type follower struct {
	ring  *ring
	w     *Writer
	span  Span
	begun bool   // it has the start of its message
	leave bool   // it is behind the park at which it leaves
	seen  uint64 // the last record it took
	buf   []entry
}

func (f *follower) run(ctx context.Context, source Source, framing Framing) error {
	at, over, err := f.catchUp(ctx, source, framing)
	for !over && err == nil {
		at, over, err = f.follow(ctx, at)
		if errors.Is(err, ErrTooSlow) && f.w.slowest < tooSlow {
			// A new ring runs ahead through a long turn: no fault of the client's.
			at, over, err = f.catchUp(ctx, source, framing)
		}
	}
	away, dismissed := Dismissed(ctx)
	switch {
	case err == nil:
		return nil
	case f.w.err == nil && dismissed:
		return f.w.give(away, away.Sentence)
	case f.w.err != nil, ctx.Err() != nil:
		return err
	case errors.Is(err, ErrTooSlow):
		return f.w.give(err, "The connection was too slow to follow the answer: reload the page to see all of it.")
	case errors.Is(err, ErrClosed):
		return f.w.give(err, "The gateway is stopping: reload the page in a moment.")
	default:
		return f.w.give(err, "The gateway could not read the rest of the answer: reload the page.")
	}
}

// catchUp reads the turn from the log until it meets the ring. catchUp does not
// wait for the turn: records that the ring has dropped are in the log.
func (f *follower) catchUp(ctx context.Context, source Source, framing Framing) (at uint64, over bool, err error) {
	if f.seen == 0 {
		if at, ok := f.ring.joins(0, 0); ok {
			return at, false, nil
		}
	}
	p := pipe{translator: NewTranslator(f.ring.key.Options), framing: framing.For(f.ring.key.Options)}
	for record, err := range source(ctx, 0) {
		if err != nil {
			return 0, false, fmt.Errorf("read the turn: %w", err)
		}
		e := p.next(record)
		if e.seq <= f.seen {
			continue
		}
		if over, err := f.take(e); over || err != nil {
			return 0, over, err
		}
		if at, ok := f.ring.joins(e.seq, e.offset); ok {
			return at, false, nil
		}
	}
	if ctx.Err() != nil {
		return 0, false, context.Cause(ctx)
	}
	return 0, false, errNoStop
}

// follow takes what the ring has at the place, or waits for it.
func (f *follower) follow(ctx context.Context, at uint64) (next uint64, over bool, err error) {
	v := f.ring.look(at, f.buf)
	f.buf = v.entries
	if v.fell {
		return at, false, ErrTooSlow
	}
	for _, e := range v.entries {
		if over, err := f.take(e); over || err != nil {
			return at, over, err
		}
		at++
	}
	switch {
	case len(v.entries) > 0: // there may be more
		clear(v.entries)
		return at, false, nil
	case v.err != nil:
		return at, false, v.err
	case v.over:
		return at, false, errNoStop
	default:
		return at, false, f.w.Wait(ctx, v.wake)
	}
}

// take writes what the client gets of an entry, and tells whether that was all.
func (f *follower) take(e entry) (over bool, err error) {
	f.seen = e.seq
	if e.seq < f.span.From {
		return false, nil
	}
	switch {
	case !f.begun && e.fresh:
		f.begun = true
		err = f.w.Frames(e.bytes[e.tail:])
	case !f.begun && e.message != "":
		f.begun = true
		if err = f.begin(e); err == nil {
			err = f.w.Frames(e.bytes)
		}
	case f.begun && e.fresh: // an error would stand behind the start, in the next message
		if err := f.w.Frames(e.bytes[:e.tail]); err != nil {
			return false, err
		}
		return true, f.w.Done()
	default:
		err = f.w.Frames(e.bytes)
	}
	f.w.sent.Failed, f.w.sent.Lost = f.w.sent.Failed || e.failed, f.w.sent.Lost || e.lost
	switch {
	case err != nil:
		return false, err
	case e.end:
		return true, f.w.Done()
	case e.park && e.seq > f.span.Past && e.seq < f.span.Upto:
		f.leave = true
		return false, nil
	case e.park && e.seq > f.span.Past, f.leave && e.seq >= f.span.Upto:
		return true, f.end(NewTranslator(f.ring.key.Options).Leave()...)
	default:
		return false, nil
	}
}

// begin begins the rest of a message, and of the text that is open there.
func (f *follower) begin(e entry) error {
	chunks := append([]Chunk{Start{MessageID: e.message}}, f.span.Again...)
	if e.text != "" {
		chunks = append(chunks, TextStart{ID: e.text})
	}
	for _, c := range chunks {
		if err := f.w.Chunk(c); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) end(chunks ...Chunk) error {
	for _, c := range chunks {
		if err := f.w.Chunk(c); err != nil {
			return err
		}
	}
	return f.w.Done()
}
