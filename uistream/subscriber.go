package uistream

import (
	"context"
	"errors"
	"fmt"
)

// This file gives one client its part of a turn, from the live buffer or from the log.

// Span says which part of a turn a client gets. The zero Span is the first
// message, up to where it waits for somebody.
type Span struct {
	// From is the number of the first record that the client gets. That of a
	// reply gives its message; a later one gives the rest of a message that the
	// client has already, after a start with the same id.
	From uint64
	// SkipPausesThrough is the number of the last pause that is passed over, because its
	// requests have their answers. At the first later one the response ends.
	SkipPausesThrough uint64
	// Upto is the number of the last record that the client gets of a pause that still
	// waits: some of what it asks has its answer. Zero is the pause itself.
	Upto uint64
	// Live says that the turn has just begun, so that the client follows it as it happens.
	Live bool
	// Reask goes right after the start of the rest of a message: what the client
	// has answered and is to forget the answer of.
	Reask []Chunk
}

// readAtMost is how much a subscriber that is behind reads of the log at a time.
const readAtMost = 32 << 10

// Serve writes one assistant message of a turn to the client as it grows: until it is
// over, the turn stops, or it pauses. Then it returns nil. Otherwise the client did not
// get the end. Either the client has gone (the error of ctx, or of a write). Or the
// client got the reason of another failure ([ErrClosed], a [Revocation] if that is the
// cause of ctx, or an error of the source). The handler must not write afterwards, and
// defers [Writer.Close]. After a [Refusal] the handler answers with its reason, unless the
// stream has begun.
func (bc *Broadcaster) Serve(ctx context.Context, w *Writer, key Key, source Source, span Span) error {
	return bc.Continue(ctx, w, NewSubscription(key, span), source)
}

// Subscription is the reading of a turn by one client. A Subscription may outlive a
// response, so that the next response goes on behind the last record that went into the
// one before. Only one response at a time uses it.
type Subscription struct{ subscriber }

// NewSubscription returns a Subscription that has read nothing.
func NewSubscription(key Key, span Span) *Subscription {
	return &Subscription{subscriber{key: key, span: span, live: span.Live}}
}

// Continue is [Broadcaster.Serve] for a client that has what earlier responses of the
// Subscription wrote.
func (bc *Broadcaster) Continue(ctx context.Context, w *Writer, sub *Subscription, source Source) error {
	s := &sub.subscriber
	if s.buffer == nil {
		s.buffer = bc.acquire(s.key)
		s.at = s.buffer.start(s.span.From, bc.config.Framing)
	} else {
		bc.acquireAgain(s.buffer)
		s.live = false
	}
	defer bc.release(s.buffer)
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(bc.closed, func() { cancel(ErrClosed) })() //nolint:contextcheck // the end of the Broadcaster ends the stream too
	s.broadcaster, s.source, s.w = bc, source, w
	defer func() {
		s.release()
		s.source, s.w = nil, nil
	}()
	err := s.run(ctx)
	refusal, refused := errors.AsType[*Refusal](err)
	revocation, revoked := Revoked(asked) // the context of the source may end before ctx
	switch {
	case err == nil, w.err != nil:
		return err
	case revoked:
		return w.failWith(revocation, revocation.Sentence)
	case errors.Is(context.Cause(ctx), ErrClosed):
		return w.failWith(ErrClosed, "The gateway is stopping: reload the page in a moment.")
	case asked.Err() != nil, ctx.Err() != nil, refused && !w.Begun():
		return err
	case refused:
		return w.failWith(err, refusal.Error())
	case errors.Is(err, errPanic):
		return w.failWith(err, "The gateway could not show the rest of the answer.")
	case errors.Is(err, errNoStop) && source.Held():
		return w.failWith(err, "The turn before was stopped, so this message has not run. It is kept: continue the queue of the session, or remove it there.")
	case errors.Is(err, errNoStop):
		return w.failWith(err, "The gateway could not write its log, so the turn was ended.")
	default:
		return w.failWith(err, "The gateway could not read the rest of the answer: reload the page.")
	}
}

// subscriber is one client that reads a turn as it happens.
type subscriber struct {
	key         Key
	broadcaster *Broadcaster
	buffer      *liveBuffer
	source      Source
	w           *Writer
	span        Span
	at          position
	behind      *encoder // it reads the log, because the buffer does not hold its position
	begun       bool     // it has the start of its message
	leaving     bool     // it is behind the pause at which it leaves
	live        bool     // it has had all that the log held
	admitted    func()   // ends the reading of older records; nil: there is none
}

// Refusal says why a subscriber may not read older records.
type Refusal struct{ error }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.error }

// admit has the source admit the subscriber to older records, until it calls release.
func (s *subscriber) admit(ctx context.Context) (err error) {
	if s.admitted != nil {
		return nil
	}
	if s.admitted, err = s.source.Admit(ctx); err != nil {
		return &Refusal{err}
	}
	return nil
}

// release ends the reading of older records.
func (s *subscriber) release() {
	if s.admitted != nil {
		s.admitted()
		s.admitted = nil
	}
}

// wait waits for records.
func (s *subscriber) wait(ctx context.Context, wake <-chan struct{}) error {
	s.release()
	if err := s.w.begin(); err != nil {
		return err
	}
	return s.w.Wait(ctx, wake, s.source.Ended())
}

// largeBlock is the size from which frames count until the client has them.
const largeBlock = 1 << 20

func (s *subscriber) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var v view
		var err error
		if s.behind == nil {
			v, err = s.next(ctx)
		} else {
			v, err = s.readLog(ctx)
		}
		if err != nil {
			if len(v.refs) > 0 { // read before the error: the reading has moved on behind it
				if over, failed := s.take(ctx, v); over && failed == nil {
					return nil
				}
			}
			return err
		}
		if len(v.frames) < largeBlock {
			s.release()
		}
		over, err := s.take(ctx, v)
		s.release()
		if over || err != nil {
			return err
		}
	}
}

// next is what the buffer holds behind the position: nothing if the subscriber has fallen
// behind.
func (s *subscriber) next(ctx context.Context) (view, error) {
	for {
		ended := isClosed(s.source.Ended()) // asked first: what is found then is all
		v := s.buffer.readFrom(&s.at, s.live || s.admitted != nil)
		switch {
		case v.err != nil:
			return v, v.err
		case v.evicted != nil:
			s.behind, s.at = v.evicted.clone(), position{}
			return view{}, nil
		case v.pull && !s.live && s.admitted == nil: // first, because others wait for a pull
			if err := s.admit(ctx); err != nil {
				return v, err
			}
		case v.pull:
			if err := s.pull(ctx); err != nil {
				return v, err
			}
		case v.wait == nil:
			return v, nil
		case v.whole && ended:
			return v, errNoStop
		default:
			s.live = s.live || v.whole
			if err := s.wait(ctx, v.wait); err != nil {
				return v, err
			}
		}
	}
}

func (s *subscriber) pull(ctx context.Context) error {
	grown, err := s.buffer.pull(ctx, s.source, &s.broadcaster.cost)
	if grown != 0 {
		s.broadcaster.grown(s.buffer, grown)
	}
	return err
}

// readLog is what the log has behind the encoder of a subscriber that is behind. Where it
// meets the buffer, the subscriber goes on there.
func (s *subscriber) readLog(ctx context.Context) (v view, err error) {
	for {
		if err := s.admit(ctx); err != nil {
			return v, err
		}
		ended, changed := isClosed(s.source.Ended()), s.source.Changed()
		all, err := s.behind.read(s.source.Records(ctx, s.behind.seq), &v.block, readAtMost, &s.broadcaster.cost)
		if err != nil {
			return v, fmt.Errorf("read the turn: %w", err)
		}
		if all && s.buffer.claim() { // else subscribers that are behind would never meet it
			if err := s.pull(ctx); err != nil {
				return v, err
			}
		}
		if at, ok := s.buffer.locate(s.behind); ok {
			s.at, s.behind = at, nil
			return v, nil
		}
		if len(v.refs) > 0 || !all {
			return v, nil
		}
		if ended {
			return v, errNoStop
		}
		if err := s.wait(ctx, changed); err != nil {
			return v, err
		}
	}
}

// take writes what the client gets of records, and reports whether that was all.
func (s *subscriber) take(ctx context.Context, v view) (over bool, err error) {
	start := 0 // of the record's frames
	if v.from > 0 {
		start = v.refs[v.from-1].end
	}
	from := start // of the frames that are not written yet
	for i, m := range v.refs[v.from:] {
		if i > 0 {
			start = v.refs[v.from+i-1].end
		}
		switch at := v.positions[m.position]; {
		case m.seq < s.span.From:
			from = m.end
			continue
		case s.begun && m.fresh: // an error would stand behind the start, in the next message
			if err := s.w.Frames(v.frames[from:m.begin]); err != nil {
				return false, err
			}
			return true, s.w.Done()
		case !s.begun && m.fresh:
			if err := s.w.Frames(v.frames[from:start]); err != nil {
				return false, err
			}
			s.begun, from = true, m.begin
		case !s.begun && at.message != "":
			s.begun = true
			if err := s.begin(at); err != nil {
				return false, err
			}
		}
		s.w.sent.Failed, s.w.sent.Lost = s.w.sent.Failed || m.failed, s.w.sent.Lost || m.lost
		paused := m.pause && m.seq > s.span.SkipPausesThrough
		last := m.over || paused && m.seq >= s.span.Upto || s.leaving && m.seq >= s.span.Upto
		s.leaving = s.leaving || paused
		if !last {
			continue
		}
		if err := s.w.Frames(v.frames[from:m.end]); err != nil {
			return false, err
		}
		if m.over {
			return true, s.settle(ctx)
		}
		return true, s.end(pauseChunks(s.key.Options)...)
	}
	if n := len(v.refs); n > 0 {
		return false, s.w.Frames(v.frames[from:v.refs[n-1].end])
	}
	return false, nil
}

// settle ends the response once the turn has ended in memory too, so that a client that has
// read all of it finds the session idle in every list. A client that leaves before that has
// the whole message.
func (s *subscriber) settle(ctx context.Context) error {
	if ended := s.source.Ended(); !isClosed(ended) {
		s.release()
		_ = s.w.Wait(ctx, nil, ended)
	}
	return s.w.Done()
}

// begin begins the rest of a message, and of the text that is open there.
func (s *subscriber) begin(at textPosition) error {
	chunks := append([]Chunk{Start{MessageID: at.message}}, s.span.Reask...)
	if at.text != "" {
		chunks = append(chunks, TextStart{ID: at.text})
	}
	return s.w.Chunks(chunks...)
}

func (s *subscriber) end(chunks ...Chunk) error {
	if err := s.w.Chunks(chunks...); err != nil {
		return err
	}
	return s.w.Done()
}
