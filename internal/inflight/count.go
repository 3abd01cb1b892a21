// Package inflight counts what is under way, so that an owner can wait until nothing is.
package inflight

import (
	"context"
	"sync"
)

// Count counts what is under way. The zero value is good. A Count is safe for concurrent use.
type Count struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when nothing is under way; nil if nobody waits
}

// Begin counts one more, until its End.
func (c *Count) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// End follows each Begin.
func (c *Count) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.none != nil {
		close(c.none)
		c.none = nil
	}
}

// None reports whether nothing is under way.
func (c *Count) None() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n == 0
}

// Over is a channel that closes when nothing is under way.
func (c *Count) Over() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.none == nil {
		c.none = make(chan struct{})
	}
	none := c.none
	if c.n == 0 {
		close(none)
		c.none = nil
	}
	return none
}

// Wait returns when nothing is under way, or the error of ctx when that ends.
func (c *Count) Wait(ctx context.Context) error {
	select {
	case <-c.Over():
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // it is that of the caller
	}
}
