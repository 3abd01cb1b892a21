package uistream

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// This file shares the live buffers of turns among their subscribers.

// ErrClosed says that the Broadcaster was closed.
var ErrClosed = errors.New("the gateway is stopping")

// Key names one turn as one kind of client sees it. Clients whose releases accept the
// same chunks have the same [Profile], so they share a key.
type Key struct {
	Session, Turn string
	Options       Options
}

// BroadcasterConfig bounds what a Broadcaster keeps.
type BroadcasterConfig struct {
	Framing Framing
	// Window is how many bytes of one turn are kept for its subscribers; 1 MB if zero. A
	// subscriber that is further behind reads the log.
	Window int
	// Total is how many bytes of all turns are kept; 256 MB if zero. The newest 64 KB of
	// each turn stay in any case.
	Total int
	// Idle is how long a turn without subscribers stays in memory; 10 s if zero.
	Idle time.Duration
}

// Broadcaster lets any number of clients read turns as they happen. Each turn is
// translated and encoded once per kind of client, into a live buffer. A slow subscriber
// holds nobody up. A Broadcaster has no goroutine of its own and is safe for concurrent
// use.
type Broadcaster struct {
	config BroadcasterConfig
	closed context.Context //nolint:containedctx // the life of the Broadcaster
	close  context.CancelCauseFunc
	cost   cost

	mu      sync.Mutex // taken before the mutex of a buffer
	buffers map[Key]*liveBuffer
	recent  list.List // of *liveBuffer that have grown since they were evicted from, the last in front
	bytes   int       // of all buffers
}

// NewBroadcaster returns a Broadcaster, which the caller must Close.
func NewBroadcaster(c BroadcasterConfig) *Broadcaster {
	if c.Window <= 0 {
		c.Window = 1 << 20
	}
	if c.Total <= 0 {
		c.Total = 256 << 20
	}
	if c.Idle <= 0 {
		c.Idle = 10 * time.Second
	}
	bc := &Broadcaster{config: c, buffers: map[Key]*liveBuffer{}}
	bc.closed, bc.close = context.WithCancelCause(context.Background())
	return bc
}

// Framing is the framing of everything that Serve writes.
func (bc *Broadcaster) Framing() Framing { return bc.config.Framing }

// Close ends the streams that are being served, with an error.
func (bc *Broadcaster) Close() {
	bc.close(ErrClosed)
	bc.mu.Lock()
	defer bc.mu.Unlock()
	for _, b := range bc.buffers {
		bc.forget(b)
	}
}

// acquire returns the buffer of the key, which stays until it is released.
func (bc *Broadcaster) acquire(key Key) *liveBuffer {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	b, ok := bc.buffers[key]
	if !ok {
		b = newLiveBuffer(key, bc.config)
		bc.buffers[key] = b
	}
	b.returns()
	return b
}

// acquireAgain is acquire for a subscriber that has left the buffer and comes back. The
// buffer may be forgotten by now: then the subscriber has the buffer for itself.
func (bc *Broadcaster) acquireAgain(b *liveBuffer) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	b.returns()
	b.forgetChange()
}

// returns counts one subscriber more.
func (b *liveBuffer) returns() {
	b.subscribers++
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
}

// release forgets the buffer once no subscriber has come back for a while.
func (bc *Broadcaster) release(b *liveBuffer) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	b.subscribers--
	if b.subscribers > 0 || bc.buffers[b.key] != b {
		return
	}
	b.idle = time.AfterFunc(bc.config.Idle, func() {
		bc.mu.Lock()
		defer bc.mu.Unlock()
		if b.subscribers == 0 && bc.buffers[b.key] == b {
			bc.forget(b)
		}
	})
}

// forget takes the buffer off the list. Its subscribers may go on with it.
func (bc *Broadcaster) forget(b *liveBuffer) {
	delete(bc.buffers, b.key)
	bc.unlist(b)
	bc.bytes -= b.counted
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
}

// grown counts the bytes that a buffer has grown by, and evicts from those that have not
// grown for the longest time.
func (bc *Broadcaster) grown(b *liveBuffer, by int) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	if bc.buffers[b.key] != b {
		return
	}
	b.counted += by
	bc.bytes += by
	bc.unlist(b)
	b.place = bc.recent.PushFront(b)
	for bc.bytes > bc.config.Total && bc.recent.Len() > 0 {
		old := bc.recent.Back().Value.(*liveBuffer) //nolint:forcetypeassert // the list holds nothing else
		bc.unlist(old)
		freed := old.evict(0)
		old.counted -= freed
		bc.bytes -= freed
	}
}

func (bc *Broadcaster) unlist(b *liveBuffer) {
	if b.place != nil {
		bc.recent.Remove(b.place)
		b.place = nil
	}
}
