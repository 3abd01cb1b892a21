package uistream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// This file writes one response as a stream of server-sent events.

// The times and sizes of a response. A proxy that hears nothing for a minute
// cuts; a socket that takes nothing for half a minute is dead.
const (
	keepaliveEvery = 15 * time.Second
	writeWithin    = 30 * time.Second
	pieceSize      = 32 << 10
)

// Timing changes the times of a Writer; zero values stand for the defaults.
type Timing struct {
	// Keepalive is the longest silence; 15 s.
	Keepalive time.Duration
	// Write is how long one write may take; 30 s.
	Write time.Duration
}

// Writer writes one response. A Writer has no goroutine and no buffer of its own, so that
// a silent stream costs little, and is not safe for concurrent use.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	framing Framing
	timing  Timing
	last    time.Time   // when the client was last written something
	until   time.Time   // the deadline of the writes to come
	silence *time.Timer // wakes the Writer when a keepalive may be due; made by the first Wait
	silent  atomic.Bool // it has
	woken   chan struct{}
	begun   bool
	dirty   bool // something was written since the last Flush
	framed  bool // it was given a frame
	ended   bool
	sent    Sent
	err     error
}

// Sent is how a stream went, for who measures it.
type Sent struct {
	// First is when the first chunk had been written; zero if none was.
	First time.Time
	// Failed says that an error was among the chunks, and Lost that it stands for a
	// turn of which the agent has not told the end.
	Failed, Lost bool
	// Whole says that all of it was handed over, and Broken that the client could not
	// be written to any more. A client that leaves when it sees the end makes both
	// true.
	Whole, Broken bool
}

// Sent tells how the stream went so far.
func (w *Writer) Sent() Sent {
	s := w.sent
	s.Whole, s.Broken = w.ended, w.err != nil
	return s
}

// NewWriter returns a Writer for the response.
func NewWriter(w http.ResponseWriter, f Framing, t Timing) *Writer {
	if t.Keepalive <= 0 {
		t.Keepalive = keepaliveEvery
	}
	if t.Write <= 0 {
		t.Write = writeWithin
	}
	return &Writer{w: w, control: http.NewResponseController(w), framing: f, timing: t, woken: make(chan struct{}, 1)}
}

// Begin sends the headers and a first comment, so that the client and every
// proxy see at once that a stream has begun. A second call does nothing.
func (w *Writer) Begin() error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.Flush()
}

// begin is Begin for a caller that has more to write at once, or waits.
func (w *Writer) begin() error {
	if w.begun {
		return w.err
	}
	w.begun = true
	h := w.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	h.Set("X-Accel-Buffering", "no")
	return w.write([]byte(": stream-open\n\n"))
}

// Begun reports whether the headers were sent: until then the response may
// still become an error with a status.
func (w *Writer) Begun() bool { return w.begun }

// Chunks writes chunks, which go out with the next Flush at the latest.
func (w *Writer) Chunks(all ...Chunk) error {
	var frames []byte
	for _, c := range all {
		if _, is := c.(Error); is {
			w.sent.Failed = true
		}
		frames = w.framing.AppendFrame(frames, c)
	}
	return w.Frames(frames)
}

// Frames writes whole frames, which go out with the next Flush at the latest. The Writer
// keeps nothing of them.
func (w *Writer) Frames(frames []byte) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.framed = w.framed || len(frames) > 0
	return w.write(frames)
}

// write hands bytes to the response, in pieces of 32 KB at most. So a slow client has the
// full time for each piece, but for a thirty-second part of it.
func (w *Writer) write(data []byte) error {
	for len(data) > 0 && w.err == nil {
		w.last, w.dirty = time.Now(), true
		if d := w.last.Add(w.timing.Write); d.Sub(w.until) > w.timing.Write/renewal {
			w.limit(d)
		}
		n := min(len(data), pieceSize)
		if w.err == nil {
			_, err := w.w.Write(data[:n])
			w.fail(err)
		}
		data = data[n:]
	}
	return w.err
}

// Flush sends what was written.
func (w *Writer) Flush() error {
	if w.err != nil || !w.dirty {
		return w.err
	}
	w.dirty = false
	if err := w.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		w.fail(err)
	}
	if w.framed && w.err == nil && w.sent.First.IsZero() {
		w.sent.First = time.Now()
	}
	return w.err
}

func (w *Writer) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write to the client: %w", err)
	}
}

// renewal is the part of its time that a write may lack because the deadline of
// the one before is left in place. Setting one costs as much as encoding a frame.
const renewal = 32

// limit bounds the writes to come, if the connection can.
func (w *Writer) limit(deadline time.Time) {
	w.until = deadline
	if err := w.control.SetWriteDeadline(deadline); !errors.Is(err, http.ErrNotSupported) {
		w.fail(err)
	}
}

// Wait flushes, and returns when the Writer was woken or ctx has ended, keeping the connection alive meanwhile. The caller
// sees to it that the end of ctx wakes the Writer: a wait for one channel costs least.
func (w *Writer) Wait(ctx context.Context) error {
	if err := w.prepareWait(); err != nil {
		return err
	}
	<-w.woken
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.keepAlive()
}

// Wake ends a Wait, or the next one. It may be called at any time.
func (w *Writer) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Next is [Writer.Wait] for a value that comes over a channel; there is none more
// when that is closed.
func Next[T any](ctx context.Context, w *Writer, from <-chan T) (value T, more bool, err error) {
	if err := w.prepareWait(); err != nil {
		return value, false, err
	}
	for {
		select {
		case value, more = <-from:
			return value, more, nil
		case <-ctx.Done():
			return value, false, context.Cause(ctx)
		case <-w.woken:
			if err := w.keepAlive(); err != nil {
				return value, false, err
			}
		}
	}
}

// prepareWait has all out before the writer waits.
func (w *Writer) prepareWait() error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.silence == nil {
		w.silence = time.AfterFunc(w.timing.Keepalive, func() {
			w.silent.Store(true)
			w.Wake()
		})
	}
	return w.Flush()
}

// keepAlive breaks a silence that has lasted. The timer is not set again at each Wait,
// because a word usually comes first.
func (w *Writer) keepAlive() error {
	if !w.silent.Swap(false) {
		return nil
	}
	left := time.Until(w.last.Add(w.timing.Keepalive))
	if left <= 0 {
		_ = w.write([]byte(w.framing.alive())) // Flush returns its error
		if err := w.Flush(); err != nil {
			return err
		}
		left = w.timing.Keepalive
	}
	w.silence.Reset(left)
	return nil
}

// Done ends the stream well.
func (w *Writer) Done() error {
	if w.ended {
		return w.err
	}
	if err := w.Frames([]byte(w.framing.done())); err != nil {
		return err
	}
	w.ended = true
	if err := w.Flush(); err != nil {
		return err
	}
	w.limit(time.Time{})
	return w.err
}

// WriteWaiting is the whole response to a client that has all there is of a message,
// which waits for the client.
func (w *Writer) WriteWaiting(message string, o Options) error {
	_ = w.Chunks(append([]Chunk{Start{MessageID: message}}, pauseChunks(o)...)...) // Done returns its error
	return w.Done()
}

// Refuse is the whole response to a client whose answer in a message is not taken,
// and which [Profile.AsksAgain]: a sentence says why. It opens a step, for the client
// sends an answer again as long as that stands in the last step of the message.
func (w *Writer) Refuse(message, reason, sentence string) error {
	_ = w.Chunks(Start{MessageID: message}, StartStep{}, errorData(sentence, reason), FinishStep{}) // Fail returns its error
	return w.Fail(sentence)
}

// Fail ends the stream with an error that the user sees: one sentence.
func (w *Writer) Fail(sentence string) error {
	_ = w.Chunks(Error{ErrorText: sentence}, Finish{}) // Done returns its error
	return w.Done()
}

// failWith ends the stream with a sentence and returns what it stands for.
func (w *Writer) failWith(cause error, sentence string) error {
	if err := w.Fail(sentence); err != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return cause
}

// Close settles the response, deferred by the handler: a stream that was begun
// and not ended must not end as if all were well, so its connection is broken.
func (w *Writer) Close() {
	if w.silence != nil {
		w.silence.Stop()
	}
	if w.begun && !w.ended {
		panic(http.ErrAbortHandler)
	}
}
