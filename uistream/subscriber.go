package uistream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file gives one client its part of a turn, from the log.

var (
	errNoStop = errors.New("the log of the turn ended before the turn")
	errPanic  = errors.New("the turn could not be encoded")
)

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

// Sizes of what a subscriber reads and writes.
const (
	// readAtMost is how many bytes of frames a subscriber makes before it writes them.
	readAtMost = 32 << 10
	// largeRecord is the size from which a record counts as read until the client has it. A subscriber that has made so
	// many bytes since it last had all counts as behind.
	largeRecord = 1 << 20
	// keptFrames is the largest buffer that a subscriber keeps while it waits.
	keptFrames = 1 << 10
)

// Subscription is the reading of a turn by one client. A Subscription may outlive a
// response, so that the next response goes on behind the last record that went into the
// one before. Only one response at a time uses it.
type Subscription struct {
	encoder
	turn     string
	options  Options
	span     Span
	cost     *cost
	source   Source
	w        *Writer
	seq      uint64 // the last record that was taken
	frames   []byte // that are not written yet
	unread   int    // bytes of frames since the subscriber last had all that the log held
	begun    bool   // it has the start of its message
	leaving  bool   // it is behind the pause at which it leaves
	live     bool   // it has had all that the log held
	admitted func() // ends the reading of older records; nil: there is none
	taken    int    // records of this reading, the first of them at since
	since    time.Time
	broken   error // the translation has failed: nothing will follow

	positions bool      // it tells its positions
	told      bool      // it has told one
	texts     openTexts // with positions, or behind one
}

// NewSubscription returns a Subscription that has read nothing of a turn.
func NewSubscription(turn string, o Options, span Span) *Subscription {
	return &Subscription{turn: turn, options: o, span: span, live: span.Live}
}

// Serve writes one assistant message of a turn to the client as it grows: until it is
// over, the turn stops, or it pauses. Then it returns nil. A client whose Subscription was served before has what the
// earlier responses wrote, and gets the rest. Otherwise the client did not
// get the end. Either the client has gone (the error of ctx, or of a write). Or the
// client got the reason of another failure ([ErrClosed], a [Revocation] if that is the
// cause of ctx, or an error of the source). The handler must not write afterwards, and
// defers [Writer.Close]. After a [Refusal] the handler answers with its reason, unless the
// stream has begun.
func (st *Streams) Serve(ctx context.Context, w *Writer, s *Subscription, source Source) error {
	if s.translation == nil {
		s.encoder = newEncoder(s.options, st.framing)
		if s.positions || s.texts.had != nil {
			s.texts.now, s.encoder.texts = map[string]int{}, &s.texts
		}
	} else {
		s.live = false
	}
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(st.closed, func() { cancel(ErrClosed) })() //nolint:contextcheck // the end of the Streams ends the stream too
	defer context.AfterFunc(ctx, w.Wake)()
	defer source.Watch(w.woken)()
	s.cost, s.source, s.w = &st.cost, source, w
	defer func() {
		s.release()
		s.source, s.w = nil, nil
	}()
	err := s.run(ctx)
	if err == nil || w.err != nil {
		return err
	}
	return s.fail(ctx, asked, err)
}

// fail gives the client the reason of a failure, and returns it. The context that was asked with may live longer than ctx.
func (s *Subscription) fail(ctx, asked context.Context, err error) error {
	w, source := s.w, s.source
	refusal, refused := errors.AsType[*Refusal](err)
	revocation, revoked := Revoked(asked) // the context of the source may end before ctx
	switch {
	case revoked:
		return w.failWith(revocation, revocation.Sentence)
	case errors.Is(context.Cause(ctx), ErrClosed):
		return w.failWith(ErrClosed, Stopping)
	case asked.Err() != nil, ctx.Err() != nil, refused && !w.Begun():
		return err
	case refused:
		return w.failWith(err, refusal.Error())
	case errors.Is(err, errPanic):
		return w.failWith(err, "The gateway could not show the rest of the answer.")
	case errors.Is(err, errNoStop) && source.Detached() && s.positions:
		return ErrDetached
	case errors.Is(err, errNoStop) && source.Detached():
		return w.failWith(ErrDetached, "The turn goes on without this gateway: reload the page in a moment.")
	case errors.Is(err, errNoStop) && source.Held():
		return w.failWith(err, "The turn before was stopped, so this message has not run. It is kept: continue the queue of the session, or remove it there.")
	case errors.Is(err, errNoStop):
		return w.failWith(err, "The gateway could not write its log, so the turn was ended.")
	default:
		return w.failWith(err, "The gateway could not read the rest of the answer: reload the page.")
	}
}

// Refusal says why a subscriber may not read older records.
type Refusal struct{ error }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.error }

// admit has the source admit the subscriber to older records, until it calls release.
func (s *Subscription) admit(ctx context.Context) (err error) {
	if s.live || s.admitted != nil {
		return nil
	}
	if s.admitted, err = s.source.Admit(ctx); err != nil {
		return &Refusal{err}
	}
	return nil
}

// release ends the reading of older records.
func (s *Subscription) release() {
	if s.admitted != nil {
		s.admitted()
		s.admitted = nil
	}
}

// end is how a record ends the response.
type end uint8

const (
	goesOn end = iota
	turnOver
	atPause
	messageOver // the next message of the turn begins
)

// run reads what the log has, writes that to the client, and waits for more.
func (s *Subscription) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.admit(ctx); err != nil {
			return err
		}
		ended := isClosed(s.source.Ended()) // before the reading: what was written last is not missed
		all, end, err := s.read(ctx)
		if wrong := s.write(end); wrong != nil { // also what was read before an error: the reading has moved on behind it
			return wrong
		}
		switch {
		case end != goesOn:
			return s.finish(ctx, end)
		case err != nil:
			return err
		case !all:
			continue
		case ended:
			return errNoStop
		}
		s.live, s.unread = true, 0
		if err := s.tellFirstPosition(); err != nil {
			return err
		}
		if err := s.w.Wait(ctx); err != nil {
			return err
		}
	}
}

// write hands the frames over to the client. Records count as read until then only if they are large.
func (s *Subscription) write(how end) error {
	if len(s.frames) < largeRecord {
		s.release()
	}
	defer s.release()
	if len(s.frames) == 0 {
		return nil
	}
	if s.positions && how != messageOver { // else the client has only the first chunks of the last record
		s.frames = s.appendPosition(s.frames)
	}
	err := s.w.Frames(s.frames)
	if s.frames = s.frames[:0]; cap(s.frames) > keptFrames {
		s.frames = nil
	}
	return err
}

// read makes frames of what the source has, up to about as many as one write takes. It reports whether that was all,
// and how it ends the response. A subscriber that follows the turn reads from memory. Older records are read
// on a stack of their own: a database needs a large stack, a stack that has grown stays large, and a stream may
// last for hours.
func (s *Subscription) read(ctx context.Context) (all bool, over end, err error) {
	if s.broken != nil {
		return false, goesOn, s.broken
	}
	if s.live {
		all, over, err = s.readRecent()
	} else {
		done := make(chan struct{})
		go func() {
			defer close(done)
			all, over, err = s.readOlder(ctx)
		}()
		<-done
	}
	if s.taken > 0 {
		s.cost.records.Add(int64(s.taken))
		s.cost.nanoseconds.Add(int64(time.Since(s.since)))
		s.taken = 0
	}
	if s.unread += len(s.frames); s.unread >= largeRecord {
		s.live = false
	}
	return all, over, err
}

// readRecent is read for a subscriber that follows the turn, unless memory has forgotten what it needs.
func (s *Subscription) readRecent() (all bool, over end, err error) {
	defer s.contain(&err)
	var records []trace.Record
	records, s.live = s.source.Recent(s.seq)
	for i := range records {
		if over, full := s.next(&records[i]); full {
			return false, over, nil
		}
	}
	return s.live, goesOn, nil
}

// readOlder is read, from the log.
func (s *Subscription) readOlder(ctx context.Context) (all bool, over end, err error) {
	defer s.contain(&err)
	for r, err := range s.source.Records(ctx, s.seq) {
		if err != nil {
			return false, goesOn, fmt.Errorf("read the turn: %w", err)
		}
		if over, full := s.next(&r); full {
			return false, over, nil
		}
	}
	return true, goesOn, nil
}

// contain makes a panic the end of this stream, not of the process.
func (s *Subscription) contain(err *error) {
	if p := recover(); p != nil {
		s.broken = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		*err = s.broken
	}
}

// next takes a record, and reports how it ends the response, and whether the subscriber is to write before it reads on. It
// leaves a large record until the subscriber is admitted.
func (s *Subscription) next(r *trace.Record) (over end, full bool) {
	if s.admitted == nil && r.Turn == s.turn && trace.ApproxSize(r.Payload) >= largeRecord {
		s.live = false
		return goesOn, true
	}
	if s.taken == 0 {
		s.since = time.Now()
	}
	s.taken++
	over = s.take(*r)
	return over, over != goesOn || len(s.frames) >= readAtMost
}

// take makes the frames that the client gets of a record.
func (s *Subscription) take(r trace.Record) end {
	s.seq = r.Seq
	if r.Turn != s.turn {
		return goesOn
	}
	s.texts.behind = r.Seq >= s.span.From
	start, text := len(s.frames), s.translation.openText()
	var m encoded
	s.frames, m = s.encode(s.frames, r)
	message := s.translation.MessageID()
	switch {
	case r.Seq < s.span.From && s.texts.had != nil: // the end of the response may be all that the client lacks
		s.frames = s.frames[:start]
	case r.Seq < s.span.From:
		s.frames = s.frames[:start]
		return goesOn
	case s.begun && m.fresh: // an error would stand behind the start, in the next message
		s.frames = s.frames[:m.begin]
		return messageOver
	case m.fresh:
		s.begun, s.frames = true, slices.Delete(s.frames, start, m.begin)
	case !s.begun && message != "":
		s.begun, s.frames = true, slices.Insert(s.frames, start, s.beginning(message, text)...)
	}
	s.w.sent.Failed, s.w.sent.Lost = s.w.sent.Failed || m.failed, s.w.sent.Lost || m.lost
	paused := s.translation.Paused() && r.Seq > s.span.SkipPausesThrough
	leaves := (paused || s.leaving) && r.Seq >= s.span.Upto
	s.leaving = s.leaving || paused
	switch {
	case s.translation.Over():
		return turnOver
	case leaves:
		return atPause
	}
	return goesOn
}

// beginning begins the rest of a message, and of the text that is open there.
func (s *Subscription) beginning(message, text string) (frames []byte) {
	chunks := append([]Chunk{Start{MessageID: message}}, s.span.Reask...)
	if text != "" {
		chunks = append(chunks, TextStart{ID: text})
	}
	for _, c := range chunks {
		frames = s.framing.AppendFrame(frames, c)
	}
	return frames
}

// finish ends the response.
func (s *Subscription) finish(ctx context.Context, how end) error {
	switch how {
	case atPause:
		_ = s.w.Chunks(pauseChunks(s.options)...) // Done returns its error
	case turnOver:
		// The turn has to have ended in memory too, so that a client that has read all of it finds the session
		// idle in every list. A client that leaves before that has the whole message.
		for !isClosed(s.source.Ended()) && s.w.Wait(ctx) == nil { //nolint:revive // it waits
		}
	case goesOn, messageOver:
	}
	return s.w.Done()
}
