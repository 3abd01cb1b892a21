package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// firstPiece is the memory of the first large piece of a frame. The memory then doubles.
const firstPiece = 32 << 10

// Read returns the next text frame; other frames are skipped. The end of ctx closes the
// connection. Every error is an *Error.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	_ = c.cfg.Hold(0)
	frame, err := c.whole(ctx)
	if err != nil {
		_ = c.cfg.Hold(0)
		return nil, err
	}
	if !utf8.Valid(frame) {
		_ = c.conn.Close(websocket.StatusInvalidFramePayloadData, "not UTF-8")
		return nil, &Error{Message: "a frame is not UTF-8", Code: websocket.StatusInvalidFramePayloadData}
	}
	return frame, nil
}

// whole reads the next text frame into memory, piece by piece.
func (c *Conn) whole(ctx context.Context) ([]byte, error) {
	f, err := c.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer f.cancel(nil)
	for frame := make([]byte, 0, 512); ; {
		n, err := f.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		if errors.Is(err, io.EOF) {
			return frame, nil
		}
		if err == nil && len(frame) == cap(frame) {
			frame, err = c.grow(frame)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Frame is a text frame that arrives. Its reader holds as much of the frame as it likes.
type Frame struct {
	c      *Conn
	r      io.Reader
	ctx    context.Context //nolint:containedctx // the life of the frame
	cancel context.CancelCauseFunc
	began  time.Time
	length int
}

// Next returns the next text frame; other frames are skipped. The caller reads the frame to
// its end, or closes the frame, before the next call. The end of ctx closes the connection.
// Every error is an *Error.
func (c *Conn) Next(ctx context.Context) (*Frame, error) {
	for {
		f, kind, err := c.begin(ctx)
		if err != nil {
			return nil, c.lost(ctx, err)
		}
		if kind == websocket.MessageText {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// begin waits for a frame of any type.
func (c *Conn) begin(ctx context.Context) (*Frame, websocket.MessageType, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.busy.Store(false)
	kind, r, err := c.conn.Reader(ctx)
	c.busy.Store(true)
	if err != nil {
		cancel(nil)
		return nil, kind, err
	}
	return &Frame{c: c, r: r, ctx: ctx, cancel: cancel, began: time.Now()}, kind, nil
}

// Read implements io.Reader. Every error but io.EOF is an *Error.
func (f *Frame) Read(p []byte) (int, error) {
	if wait := f.c.cfg.PieceTime; wait > 0 {
		late := time.AfterFunc(f.c.patience(f.began, f.length), func() {
			f.cancel(&Error{Message: fmt.Sprintf("a frame stopped for %v, or came too slowly", wait)})
		})
		defer late.Stop()
	}
	f.c.busy.Store(false)
	n, err := f.r.Read(p)
	f.c.busy.Store(true)
	f.length += n
	switch stopped, is := errors.AsType[*Error](context.Cause(f.ctx)); {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case is:
		return n, stopped
	}
	return n, f.c.lost(f.ctx, err)
}

// Close skips the rest of the frame.
func (f *Frame) Close() error {
	defer f.cancel(nil)
	_, err := io.Copy(io.Discard, f)
	return err
}

// grow returns the frame with more room behind it. A peer whose frame waits for memory
// cannot answer a ping.
func (c *Conn) grow(frame []byte) ([]byte, error) {
	larger := max(2*cap(frame), firstPiece)
	if c.cfg.MaxFrame > 0 {
		larger = min(larger, int(c.cfg.MaxFrame)+1)
	}
	c.busy.Store(true)
	err := c.cfg.Hold(int64(cap(frame) + larger))
	c.busy.Store(false)
	if err != nil {
		return nil, &Error{Message: err.Error(), err: err}
	}
	return append(make([]byte, 0, larger), frame...), nil
}

// patience is how long the next piece of a frame may take.
func (c *Conn) patience(began time.Time, length int) time.Duration {
	if c.cfg.MinRate == 0 {
		return c.cfg.PieceTime
	}
	left := c.cfg.PieceTime + time.Duration(length)*time.Second/time.Duration(c.cfg.MinRate) - time.Since(began)
	return max(0, min(left, c.cfg.PieceTime))
}
