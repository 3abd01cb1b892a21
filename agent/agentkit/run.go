package agentkit

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Link brings one prompt to the agent.
type Link interface {
	// Connect makes sure that the agent is there. lost is closed when the connection
	// is gone.
	Connect(ctx context.Context) (lost <-chan struct{}, err error)
	// Send sends the prompt, by [Session.Send] or after [Session.Sent].
	Send(ctx context.Context) error
	// Stop asks the agent to end the turn. Run calls Stop again each second while the
	// turn goes on, because an agent may not have begun when the first call came.
	Stop(ctx context.Context) error
	// Cut ends the connection to an agent that did not stop in time.
	Cut()
	// Lost says how a turn ends whose connection is gone.
	Lost() trace.Stop
}

// PromptError is a prompt that this agent cannot take. The turn fails with the
// sentence, and nothing is sent.
type PromptError struct{ Reason, Sentence string }

// Error implements error.
func (e *PromptError) Error() string { return e.Sentence }

// stopped is the end of a turn that a person has stopped.
func stopped() trace.Stop { return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled} }

// Run runs a prompt's turn and returns when the turn is over. Run implements Prompt
// of agent.Session. A prompt that a dying connection did not deliver is sent once
// more.
func (s *Session) Run(ctx context.Context, b *trace.Builder, l Link) error {
	for first := true; ; first = false {
		if ctx.Err() != nil {
			s.Fail(b, stopped())
			return nil //nolint:nilerr // a stopped turn is no fault: its trace says so
		}
		lost, err := l.Connect(ctx)
		if err == nil {
			s.enter(b)
			err = l.Send(ctx)
		}
		var refused *PromptError
		switch {
		case b.Over():
			return nil //nolint:nilerr // the turn has its end
		case errors.As(err, &refused):
			s.Fail(b, trace.Stop{Reason: refused.Reason, Outcome: trace.OutcomeFailed, Error: refused.Sentence})
			return nil
		case err != nil && ctx.Err() != nil:
			s.Fail(b, stopped())
			return nil //nolint:nilerr // as above
		case err != nil:
			s.forget(b)
			return err
		}
		select {
		case <-b.Ended():
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), agent.ErrLeft) {
				s.Fail(b, trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled}) // not on record: the turn goes on there
				break
			}
			s.stop(b, l) //nolint:contextcheck // ctx is over; stopping has a bound of its own
		case <-lost:
			if first && s.retract(b) {
				continue
			}
			s.Fail(b, l.Lost())
		}
		return nil
	}
}

// enter makes b the turn of the newest prompt, and writes the notices of a start into it.
func (s *Session) enter(b *trace.Builder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.newest, s.heard = b, b, false
	for _, n := range s.notices {
		b.Emit(n)
	}
	s.notices = nil
}

// retract withdraws a prompt since which the agent has said nothing, and reports
// whether that was possible.
func (s *Session) retract(b *trace.Builder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard || s.closed || b.Over() {
		return false
	}
	s.leave(b)
	return true
}

// forget leaves a turn that did not begin; the caller of Run ends the turn.
func (s *Session) forget(b *trace.Builder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(b)
}

// leave forgets a turn. The caller holds s.mu.
func (s *Session) leave(b *trace.Builder) {
	if s.current == b {
		s.current = nil
	}
	if s.waiting == b {
		s.waiting = nil
	}
}

// Fail ends a turn from this side.
func (s *Session) Fail(b *trace.Builder, end trace.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(b, end)
}

// fail ends a turn, and its requests with it. The caller holds s.mu.
func (s *Session) fail(b *trace.Builder, end trace.Stop) {
	s.leave(b)
	if !b.Over() {
		if s.stopping == b {
			end = stopped()
		}
		b.End(end)
	}
	s.releaseAll(errWithdrawn)
}

// Lost ends what runs because the connection is gone. A prompt of which the agent has
// heard nothing is left to Run, which sends it again.
func (s *Session) Lost(end trace.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range []*trace.Builder{s.current, s.waiting} {
		if b != nil && (s.heard || b != s.newest) {
			s.fail(b, end)
		}
	}
	s.releaseAll(errWithdrawn)
}

// stop asks the agent to end its turn, and cuts the connection if it does not.
func (s *Session) stop(b *trace.Builder, l Link) {
	s.mu.Lock()
	begun := s.waiting != b
	s.stopping = b
	s.mu.Unlock()
	if begun && s.politely(b, l) {
		return
	}
	s.Fail(b, stopped())
	l.Cut()
}

// politely asks until the turn ends or the agent's time is over.
func (s *Session) politely(b *trace.Builder, l Link) bool {
	bound := time.NewTimer(s.o.StopTime)
	defer bound.Stop()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		ctx, cancel := context.WithTimeout(s.life, time.Second)
		err := l.Stop(ctx)
		cancel()
		if err != nil {
			return false
		}
		s.mu.Lock()
		s.releaseAll(errStopped)
		s.mu.Unlock()
		select {
		case <-b.Ended():
			return true
		case <-again.C:
		case <-bound.C:
			return false
		case <-s.life.Done():
			return false
		}
	}
}
