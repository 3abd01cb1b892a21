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
	c.busy.Store(false)
	defer c.busy.Store(true)
	for {
		_ = c.cfg.Hold(0)
		kind, frame, err := c.frame(ctx)
		switch {
		case err != nil:
			_ = c.cfg.Hold(0)
			return nil, c.lost(ctx, err)
		case kind != websocket.MessageText:
		case !utf8.Valid(frame):
			_ = c.conn.Close(websocket.StatusInvalidFramePayloadData, "not UTF-8")
			return nil, &Error{Message: "a frame is not UTF-8", Code: websocket.StatusInvalidFramePayloadData}
		default:
			return frame, nil
		}
	}
}

// frame reads a frame of any type, piece by piece.
func (c *Conn) frame(ctx context.Context) (websocket.MessageType, []byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kind, r, err := c.conn.Reader(ctx)
	if err != nil {
		return 0, nil, err
	}
	began, late := time.Now(), (*time.Timer)(nil)
	if c.cfg.PieceTime > 0 {
		late = time.AfterFunc(c.cfg.PieceTime, func() {
			cancel(&Error{Message: fmt.Sprintf("a frame stopped for %v, or came too slowly", c.cfg.PieceTime)})
		})
		defer late.Stop()
	}
	for frame := make([]byte, 0, 512); ; {
		n, err := r.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		if errors.Is(err, io.EOF) {
			return kind, frame, nil
		}
		if err == nil && len(frame) == cap(frame) {
			frame, err = c.grow(frame)
		}
		if stopped, ok := errors.AsType[*Error](context.Cause(ctx)); ok && err != nil {
			return 0, nil, stopped
		}
		if err != nil {
			return 0, nil, err
		}
		if late != nil {
			late.Reset(c.patience(began, len(frame)))
		}
	}
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
