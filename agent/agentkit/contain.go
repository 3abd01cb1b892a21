package agentkit

import (
	"fmt"
	"runtime/debug"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// PanicError is a panic of an adapter.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("the adapter could not read a message of the agent: %v", e.Value)
}

// Decode hands a message to a Decoder. A panic of the Decoder is a [PanicError], so that one
// message of an agent cannot end the gateway.
func Decode(d agent.Decoder, m agent.Message, t agent.Turns) (effects []agent.Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
	}()
	return d.Decode(m, t)
}

// broken ends the turn whose message made the Decoder panic. The caller holds s.mu.
func (s *Session) broken(p *PanicError) {
	if s.cfg.Logger != nil {
		s.cfg.Logger.Error("the decoder has panicked", "panic", p.Value, "stack", string(p.Stack))
	}
	for _, b := range []*trace.Builder{s.current, s.waiting} {
		if b != nil {
			s.panicked = b
			s.fail(b, trace.Stop{Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed, Error: p.Error()})
		}
	}
}

// hasPanicked reports whether the Decoder panicked in a turn. Then its state means nothing.
func (s *Session) hasPanicked(b *trace.Builder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.panicked == b
}
