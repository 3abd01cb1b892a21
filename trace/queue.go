package trace

import (
	"context"
	"sync"
	"time"
)

// This file hands the events of a turn to the log, in batches and in order.

// maxPendingBytes is how many bytes of events may wait before a call blocks: enough to
// ride out a slow disk, little enough that a turn costs bounded memory.
const maxPendingBytes = 4 << 20

// idleTimeout is how long the appending goroutine waits for more, at least. An agent
// that writes a word now and then keeps its goroutine, because a new one would grow
// its stack again for each word. An agent that is silent for minutes costs nothing.
const idleTimeout = time.Second

// maxFreeList bounds the list that is kept for the next batch.
const maxFreeList = 64

// queue hands events to the log: while one append is in flight, what comes next
// gathers and goes as the next batch. At a low rate every event goes at once,
// at a high rate batches form by themselves, and no timer delays one.
type queue struct {
	mu       sync.Mutex
	cond     sync.Cond // of mu
	append   func(context.Context, []Event) error
	ctx      context.Context //nolint:containedctx // the life of the log, see NewBuilder
	pending  []Event
	freeList []Event // empty, for what comes while a batch is in flight
	bytes    int
	queued   int           // events so far
	appended int           // those of them that are on record
	inFlight bool          // something is not on record yet
	telling  int           // calls that tell the owner of the turn of changed requests
	running  bool          // there is a goroutine that appends
	idle     bool          // it waits for more
	busy     bool          // it has appended since it last asked
	closed   bool          // it ends when nothing is left
	more     chan struct{} // ends its rest
	err      error
	failed   chan struct{}
}

// full reports whether so much waits that a caller should wait too.
func (q *queue) full() bool { return q.bytes > maxPendingBytes && q.err == nil }

// push queues an event. The goroutine that it may start ends when nothing came
// for a while, and at the latest with end, which waits for it.
func (q *queue) push(e Event, bytes int) {
	if q.err != nil {
		return
	}
	q.pending = append(q.pending, e)
	q.bytes += bytes
	q.queued++
	if q.inFlight {
		return
	}
	q.inFlight, q.busy = true, true
	if !q.wake() {
		q.running = true
		go q.run()
	}
}

// wake ends the rest of the goroutine, if there is one: it never rests but with
// nothing to do.
func (q *queue) wake() bool {
	if !q.running {
		return false
	}
	if q.idle {
		q.idle = false
		q.more <- struct{}{}
	}
	return true
}

func (q *queue) run() {
	idle := time.NewTimer(idleTimeout)
	defer idle.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.appendPending(); q.waitForWork(idle); q.appendPending() {
	}
	q.running, q.idle = false, false
	q.cond.Broadcast()
}

// appendPending appends what waits until nothing does. The owner of the turn knows of
// requests and answers before they are on record, where readers can see them.
func (q *queue) appendPending() {
	for len(q.pending) > 0 && q.err == nil {
		for q.telling > 0 {
			q.cond.Wait()
		}
		batch := q.pending
		q.pending, q.freeList, q.bytes = q.freeList, nil, 0
		q.cond.Broadcast()
		q.mu.Unlock()
		err := q.append(q.ctx, batch)
		q.mu.Lock()
		if err == nil {
			q.appended += len(batch)
		}
		if cap(batch) <= maxFreeList {
			clear(batch)
			q.freeList = batch[:0]
		}
		if err != nil {
			q.err = err
			q.pending, q.bytes = nil, 0
			close(q.failed)
		}
	}
	q.inFlight = false
	q.cond.Broadcast()
}

// waitForWork waits for more, and reports whether any came. The timer is not set again for
// each batch: when it fires, it only checks whether there was a batch since.
func (q *queue) waitForWork(idle *time.Timer) bool {
	for !q.closed && q.err == nil {
		q.idle = true
		q.mu.Unlock()
		select {
		case <-q.more:
			q.mu.Lock()
			return true
		case <-idle.C:
			q.mu.Lock()
		}
		switch {
		case !q.idle: // both at once
			<-q.more
			return true
		case !q.busy:
			return false
		}
		q.busy = false
		idle.Reset(idleTimeout)
	}
	return false
}

// Flush returns when everything that was written so far is on record. A caller
// needs Flush for an order between two turns; within one turn the order is certain.
func (b *Builder) Flush() error {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.committed(t.queued) // and not later events, because they may never pause
	return t.err
}

// committed waits until that many events are on record, and reports false if the log failed
// before.
func (q *queue) committed(events int) bool {
	for q.appended < events && q.err == nil {
		q.cond.Wait()
	}
	return q.appended >= events
}

// end waits until everything is on record and the goroutine has ended, and returns
// what went wrong. Nothing comes any more.
func (q *queue) end() error {
	q.closed = true
	for q.wake() {
		q.cond.Wait()
	}
	return q.err
}
