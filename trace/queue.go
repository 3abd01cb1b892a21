package trace

import (
	"context"
	"sync"
)

// roomFor is how many bytes of events may wait before a call blocks: enough to
// ride out a slow disk, little enough that a turn costs bounded memory.
const roomFor = 4 << 20

// queue hands events to the log: while one append is in flight, what comes next
// gathers and goes as the next batch. At a low rate every event goes at once,
// at a high rate batches form by themselves, and there is no timer.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	append  func(context.Context, []Event) error
	ctx     context.Context //nolint:containedctx // the life of the log, see NewBuilder
	pending []Event
	bytes   int
	queued  int // events so far
	landed  int // those of them that were appended
	flying  bool
	err     error
	failed  chan struct{}
}

func newQueue(ctx context.Context, appendTo func(context.Context, []Event) error) queue {
	return queue{append: appendTo, ctx: ctx, failed: make(chan struct{})}
}

func (q *queue) cond() *sync.Cond {
	if q.changed == nil {
		q.changed = sync.NewCond(&q.mu)
	}
	return q.changed
}

// full reports whether so much waits that a caller should wait too.
func (q *queue) full() bool { return q.bytes > roomFor && q.err == nil }

// push queues an event. The goroutine that it may start ends as soon as nothing
// waits; drain waits for it.
func (q *queue) push(e Event, bytes int) {
	if q.err != nil {
		return
	}
	q.pending = append(q.pending, e)
	q.bytes += bytes
	q.queued++
	if !q.flying {
		q.flying = true
		go q.fly()
	}
}

func (q *queue) fly() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pending) > 0 && q.err == nil {
		batch := q.pending
		q.pending, q.bytes = nil, 0
		q.cond().Broadcast()
		q.mu.Unlock()
		err := q.append(q.ctx, batch)
		q.mu.Lock()
		q.landed += len(batch)
		if err != nil {
			q.err = err
			q.pending, q.bytes = nil, 0
			close(q.failed)
		}
	}
	q.flying = false
	q.cond().Broadcast()
}

// flush waits until what was queued so far is on record, and returns what went
// wrong. What comes meanwhile is not waited for: it may never pause.
func (q *queue) flush() error {
	for all := q.queued; q.landed < all && q.err == nil; {
		q.cond().Wait()
	}
	return q.err
}

// drain waits until everything is on record, and returns what went wrong.
func (q *queue) drain() error {
	for q.flying {
		q.cond().Wait()
	}
	return q.err
}
