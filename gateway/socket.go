package gateway

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Bounds of a WebSocket.
const (
	maxFrame     = 32 << 20         // that a client sends, as one message of a chat
	maxUnread    = 1 << 20          // that a client has not taken; one more frame may wait to be written
	unreadWithin = time.Second      // that it may take nothing while so much waits
	pingEvery    = 15 * time.Second // if the configuration does not say
	firstPiece   = 32 << 10         // of what is read of a frame at a time
	stoppingText = "the gateway is stopping"
)

var errUnread = errors.New("the client did not read")

// socket is a WebSocket with bounds. Frames are put from any goroutine, and written
// by one.
type socket struct {
	conn   *websocket.Conn
	bulk   *bulk
	within time.Duration // for a write, and for the answer to a ping
	piece  time.Duration // for a piece of a frame
	every  time.Duration // between two pings

	mu     sync.Mutex
	frames [][]byte
	unread int           // bytes in frames
	wake   chan struct{} // something was put
	taken  chan struct{} // something was written
}

func (g *gateway) newSocket(conn *websocket.Conn, b *bulk) *socket {
	conn.SetReadLimit(maxFrame)
	s := &socket{
		conn: conn, bulk: b, within: g.Timing.Write, piece: g.Read, every: g.Timing.Keepalive,
		wake: make(chan struct{}, 1), taken: make(chan struct{}, 1),
	}
	if s.every <= 0 {
		s.every = pingEvery
	}
	return s
}

// put hands a frame to the writer. It waits where too much is unread, but not for a
// client that takes nothing: then it returns errUnread.
func (s *socket) put(ctx context.Context, frame []byte) error {
	for !s.offer(frame) {
		patience := time.NewTimer(unreadWithin)
		select {
		case <-s.taken:
			patience.Stop()
		case <-ctx.Done():
			patience.Stop()
			return context.Cause(ctx)
		case <-patience.C:
			return errUnread
		}
	}
	return nil
}

// offer hands a frame to the writer unless too much is unread.
func (s *socket) offer(frame []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread > 0 && s.unread+len(frame) > maxUnread {
		return false
	}
	s.frames = append(s.frames, frame)
	s.unread += len(frame)
	signal(s.wake)
	return true
}

// signal wakes the goroutine that waits, or the next that will wait.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write writes what is put until ctx ends.
func (s *socket) write(ctx context.Context) error {
	for {
		s.mu.Lock()
		frames := s.frames
		s.frames = nil
		s.mu.Unlock()
		for _, frame := range frames {
			if err := s.writeOne(ctx, frame); err != nil {
				return err
			}
			s.mu.Lock()
			s.unread -= len(frame)
			s.mu.Unlock()
			signal(s.taken)
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *socket) writeOne(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, frame)
}

// drained waits until all that was put is written, for a moment.
func (s *socket) drained(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, unreadWithin)
	defer cancel()
	for {
		s.mu.Lock()
		done := s.unread == 0
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-s.taken:
		case <-ctx.Done():
			return
		}
	}
}

// ping asks the client now and then whether it is there.
func (s *socket) ping(ctx context.Context) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		answer, cancel := context.WithTimeout(ctx, s.within)
		err := s.conn.Ping(answer)
		cancel()
		if err != nil {
			return err
		}
	}
}

// read returns the next frame. Once a frame has begun, its pieces come within their
// while, as those of a body do; a large one waits for room. The frame is to be let go
// by release.
func (s *socket) read(ctx context.Context) (frame []byte, release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, r, err := s.conn.Reader(ctx)
	if err != nil {
		return nil, nil, err
	}
	late := time.AfterFunc(s.piece, cancel)
	defer late.Stop()
	began := time.Now()
	frame = make([]byte, 0, 512)
	for {
		n, err := r.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		if errors.Is(err, io.EOF) {
			return frame, func() { s.bulk.change(0) }, nil
		}
		if err == nil && len(frame) == cap(frame) {
			larger := min(max(2*cap(frame), firstPiece), maxFrame+1)
			err = s.bulk.hold(int64(cap(frame) + larger))
			grown := make([]byte, len(frame), larger)
			copy(grown, frame)
			frame = grown
		}
		if err != nil {
			s.bulk.change(0)
			return nil, nil, err
		}
		rest := s.piece + time.Duration(len(frame))*time.Second/slowestBody - time.Since(began)
		late.Reset(max(0, min(rest, s.piece)))
	}
}
