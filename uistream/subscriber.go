package uistream

import (
	"context"
	"errors"
	"fmt"
)

// How one client gets its part of a turn, from the live buffer or from the log.

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
// defers [Writer.Close].
func (bc *Broadcaster) Serve(ctx context.Context, w *Writer, key Key, source Source, span Span) error {
	b := bc.acquire(key)
	defer bc.release(b)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(bc.closed, func() { cancel(ErrClosed) })() //nolint:contextcheck // the end of the Broadcaster ends the stream too
	s := &subscriber{broadcaster: bc, buffer: b, source: source, w: w, span: span, at: b.start(span.From, bc.config.Framing)}
	err := s.run(ctx)
	revocation, revoked := Revoked(ctx)
	switch {
	case err == nil, w.err != nil:
		return err
	case revoked:
		return w.failWith(revocation, revocation.Sentence)
	case errors.Is(context.Cause(ctx), ErrClosed):
		return w.failWith(ErrClosed, "The gateway is stopping: reload the page in a moment.")
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errPanic):
		return w.failWith(err, "The gateway could not show the rest of the answer.")
	case errors.Is(err, errNoStop):
		return w.failWith(err, "The gateway could not write its log, so the turn was ended.")
	default:
		return w.failWith(err, "The gateway could not read the rest of the answer: reload the page.")
	}
}

// subscriber is one client that reads a turn as it happens.
type subscriber struct {
	broadcaster *Broadcaster
	buffer      *liveBuffer
	source      Source
	w           *Writer
	span        Span
	at          position
	behind      *encoder // it reads the log, because the buffer does not hold its position
	begun       bool     // it has the start of its message
	leaving     bool     // it is behind the pause at which it leaves
}

func (s *subscriber) run(ctx context.Context) error {
	if err := s.w.begin(); err != nil {
		return err
	}
	for {
		var v view
		var err error
		if s.behind == nil {
			v, err = s.next(ctx)
		} else {
			v, err = s.readLog(ctx)
		}
		if err != nil {
			return err
		}
		if over, err := s.take(v); over || err != nil {
			return err
		}
	}
}

// next is what the buffer holds behind the position: nothing if the subscriber has fallen
// behind.
func (s *subscriber) next(ctx context.Context) (view, error) {
	for {
		ended := isClosed(s.source.Ended()) // asked first: what is found then is all
		v := s.buffer.look(&s.at)
		switch {
		case v.err != nil:
			return v, v.err
		case v.fell != nil:
			s.behind, s.at = v.fell.clone(), position{}
			return view{}, nil
		case v.pull:
			if err := s.pull(ctx); err != nil {
				return v, err
			}
		case v.wait == nil:
			return v, nil
		case v.whole && ended:
			return v, errNoStop
		default:
			if err := s.w.Wait(ctx, v.wait, s.source.Ended()); err != nil {
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
		if len(v.marks) > 0 || !all {
			return v, nil
		}
		if ended {
			return v, errNoStop
		}
		if err := s.w.Wait(ctx, changed, s.source.Ended()); err != nil {
			return v, err
		}
	}
}

// take writes what the client gets of records, and reports whether that was all.
func (s *subscriber) take(v view) (over bool, err error) {
	start := 0 // of the record's frames
	if v.from > 0 {
		start = v.marks[v.from-1].end
	}
	from := start // of the frames that are not written yet
	for i, m := range v.marks[v.from:] {
		if i > 0 {
			start = v.marks[v.from+i-1].end
		}
		switch at := v.places[m.place]; {
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
			return true, s.w.Done()
		}
		return true, s.end(pauseChunks(s.buffer.key.Options)...)
	}
	if n := len(v.marks); n > 0 {
		return false, s.w.Frames(v.frames[from:v.marks[n-1].end])
	}
	return false, nil
}

// begin begins the rest of a message, and of the text that is open there.
func (s *subscriber) begin(at place) error {
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
