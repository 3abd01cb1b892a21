package agentkit

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// This file lets the message that ends a turn wait for what still belongs to the turn.

// Holder is a Protocol whose agents may say more of a turn behind the message that ends the turn.
type Holder interface {
	// Hold returns how long a message waits for messages behind it, which are decoded before; 0 for no wait. The session
	// asks when the message comes, and again after each message that comes behind it. No message waits for more than 5 s.
	Hold(message json.RawMessage) time.Duration
}

const mostHold = 5 * time.Second

// hold is the message of a process that waits.
type hold struct {
	sync.Mutex
	message json.RawMessage // nil if none waits
	began   time.Time
	until   time.Time
}

func (h *hold) rest() time.Duration {
	return min(time.Until(h.until), time.Until(h.began.Add(mostHold)))
}

// arrive takes a message, or lets the message wait.
func (s *processSession) arrive(p *process, message json.RawMessage) {
	h, holds := p.protocol.(Holder)
	if !holds {
		s.take(p, message)
		return
	}
	p.hold.Lock()
	defer p.hold.Unlock()
	if p.hold.message != nil && p.hold.rest() > 0 {
		s.take(p, message)
		p.hold.until = time.Now().Add(h.Hold(p.hold.message))
		if p.hold.rest() <= 0 {
			s.takeHeld(p)
		}
		return
	}
	s.takeHeld(p)
	wait := h.Hold(message)
	if wait <= 0 {
		s.take(p, message)
		return
	}
	now := time.Now()
	p.hold.message, p.hold.began, p.hold.until = message, now, now.Add(wait)
	s.Go(func(ctx context.Context) { s.wait(ctx, p) })
}

// wait takes the message that waits when its time is over.
func (s *processSession) wait(ctx context.Context, p *process) {
	for {
		p.hold.Lock()
		rest := p.hold.rest()
		if p.hold.message == nil || rest <= 0 {
			s.takeHeld(p) //nolint:contextcheck // effects live as long as the session
			p.hold.Unlock()
			return
		}
		p.hold.Unlock()
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// releaseHeld takes the message that waits, because no other message comes.
func (s *processSession) releaseHeld(p *process) {
	p.hold.Lock()
	defer p.hold.Unlock()
	s.takeHeld(p)
}

// takeHeld takes the message that waits, if any. The caller holds p.hold.
func (s *processSession) takeHeld(p *process) {
	if message := p.hold.message; message != nil {
		p.hold.message = nil
		s.take(p, message)
	}
}
