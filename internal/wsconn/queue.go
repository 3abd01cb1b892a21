package wsconn

import (
	"context"
	"sync"
	"time"
)

// Bounds of a Queue.
const (
	maxUnread    = 1 << 20     // bytes that wait; one frame of any size may wait
	unreadWithin = time.Second // how long the peer may take nothing while so much waits
)

// ErrUnread is the error of a Queue whose peer does not read.
var ErrUnread = &Error{Message: "the client did not read"}

// Queue holds frames for a peer that reads slowly. Any goroutine puts frames, and one
// goroutine runs [Queue.Run].
type Queue struct {
	conn *Conn

	mu     sync.Mutex
	frames [][]byte
	unread int           // bytes that wait or are being written
	over   bool          // Run has returned
	put    chan struct{} // a frame was put
	taken  chan struct{} // a frame was written
}

// NewQueue returns an empty Queue.
func NewQueue(c *Conn) *Queue {
	return &Queue{conn: c, put: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// Put adds a frame. Put waits while too many bytes are unread. When the peer takes nothing
// for a second, Put returns ErrUnread.
func (q *Queue) Put(ctx context.Context, frame []byte) error {
	for !q.Offer(frame) {
		patience, cancel := context.WithTimeoutCause(ctx, unreadWithin, ErrUnread)
		err := wait(patience, q.taken)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// Offer adds a frame unless too many bytes are unread.
func (q *Queue) Offer(frame []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.unread > 0 && q.unread+len(frame) > maxUnread {
		return false
	}
	q.frames = append(q.frames, frame)
	q.unread += len(frame)
	signal(q.put)
	return true
}

// Run writes the frames until ctx ends or the connection does.
func (q *Queue) Run(ctx context.Context) error {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.over = true
		signal(q.taken)
	}()
	for {
		q.mu.Lock()
		frames := q.frames
		q.frames = nil
		q.mu.Unlock()
		for _, frame := range frames {
			if err := q.conn.Write(ctx, frame); err != nil {
				return err
			}
			q.mu.Lock()
			q.unread -= len(frame)
			q.mu.Unlock()
			signal(q.taken)
		}
		if len(frames) > 0 {
			continue
		}
		if err := wait(ctx, q.put); err != nil {
			return err
		}
	}
}

// Flush waits until every frame is written, for at most a second, unless Run has returned.
func (q *Queue) Flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, unreadWithin)
	defer cancel()
	for {
		q.mu.Lock()
		done := q.unread == 0 || q.over
		q.mu.Unlock()
		if done || wait(ctx, q.taken) != nil {
			return
		}
	}
}

// signal wakes the goroutine that waits, or the next one that will wait.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func wait(ctx context.Context, c chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
