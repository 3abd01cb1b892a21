package agentops

import (
	"context"
	"sync"
)

// Sockets are the WebSockets that are open. The server has handed their connections
// over, so its own end does not wait for them. The caller that ends the gateway must
// wait. They end by themselves when the hub has closed. The zero value is good.
type Sockets struct {
	mu   sync.Mutex
	open int
	none chan struct{} // closed when none is open; nil if nobody waits
}

// Enter counts a socket until leave is called.
func (s *Sockets) Enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open--; s.open == 0 && s.none != nil {
			close(s.none)
			s.none = nil
		}
	}
}

// Wait returns when no socket is open, or ctx ends.
func (s *Sockets) Wait(ctx context.Context) error {
	s.mu.Lock()
	if s.open == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.none == nil {
		s.none = make(chan struct{})
	}
	none := s.none
	s.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
