package agentkit

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Link is the transport of one prompt: a process, a server, or a socket that the agent
// has opened.
type Link interface {
	// Connect makes sure that the agent is there and takes prompts. Run calls Connect again
	// after a loss that Lost lets the turn survive.
	Connect(ctx context.Context) (Connection, error)
	// Send sends the prompt, by [Session.Send] or after [Session.Sent].
	Send(ctx context.Context) error
	// Stop asks the agent to end the turn. Run calls Stop again each second while the
	// turn goes on, because an agent may not have begun when the first call came.
	Stop(ctx context.Context) error
	// Cut ends the connection to an agent that did not stop in time.
	Cut()
	// Lost decides on a turn whose connection is gone: Run connects again, or the turn ends.
	Lost(l Loss) (again bool, end trace.Stop)
}

// Connection is a connection to the agent.
type Connection struct {
	// Lost is closed when the connection is gone.
	Lost <-chan struct{}
	// GoesOn says that the agent has the prompt already. Run does not send the prompt.
	GoesOn bool
}

// Loss is a connection that was lost while a turn went on.
type Loss struct {
	// Heard says that the agent has said something since the prompt was sent.
	Heard bool
	// Sent counts how often the prompt was sent, and After is how long ago it was sent last.
	Sent  int
	After time.Duration
	// Unsent says that the prompt could not be written.
	Unsent bool
}

// soon bounds how long an agent may have had a prompt that is sent again. An agent that says nothing may be at work.
const soon = time.Second

// Once is Lost for an agent that forgets its prompt together with the connection. A prompt of which the agent has
// said nothing is sent once more, if the agent was lost soon. The user learns of that, because the agent may have worked.
func (s *Session) Once(l Loss, b *trace.Builder, end func() trace.Stop) (again bool, _ trace.Stop) {
	switch {
	case l.Heard, l.Sent != 1, l.After > soon && !l.Unsent:
		return false, end()
	case !l.Unsent:
		b.Emit(trace.Notice("prompt_repeated", s.o.Name+" was lost before its first word and gets the prompt again: if it had begun to work, that work may be done twice."))
	}
	return true, trace.Stop{}
}

// PromptError is a prompt that this agent cannot take. The turn fails with the
// sentence, and nothing is sent.
type PromptError struct {
	Reason, Sentence string
	// Class says what kind of failure it is; empty if that is not known.
	Class trace.Class
}

// Error implements error.
func (e *PromptError) Error() string { return e.Sentence }

// stopped is the end of a turn that a person has stopped, and closed the end of a turn
// whose session was closed.
func stopped() trace.Stop { return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled} }
func closed() trace.Stop  { return trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled} }

// Run runs a prompt's turn and returns when the turn is over. Run implements Prompt
// of agent.Session.
func (s *Session) Run(ctx context.Context, b *trace.Builder, l Link) error {
	delivered := false
	var at time.Time // when the prompt was sent
	for sent := 0; ; delivered = true {
		c, err := Connection{}, ctx.Err()
		if err == nil {
			c, err = l.Connect(ctx)
		}
		if ctx.Err() != nil && err != nil && delivered && !b.Over() {
			s.stop(b, l) //nolint:contextcheck // ctx is over; stopping has a bound of its own
			return nil   //nolint:nilerr // a stopped turn is no fault: its trace says so
		}
		if err == nil && !c.GoesOn {
			s.enter(b)
			at = time.Now()
			err = l.Send(ctx)
			sent++
		}
		var refused *PromptError
		switch {
		case b.Over():
			return nil //nolint:nilerr // the turn has its end
		case errors.As(err, &refused):
			s.Fail(b, trace.Stop{Reason: refused.Reason, Outcome: trace.OutcomeFailed, Class: refused.Class, Error: refused.Sentence})
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
			if s.hasPanicked(b) {
				l.Cut()
			}
			return nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), agent.ErrDetached) {
				s.Fail(b, closed()) // not on record: the turn goes on there
				return nil
			}
			s.stop(b, l) //nolint:contextcheck // as above
			return nil
		case <-c.Lost:
		}
		if again := s.survives(b, l, Loss{Sent: sent, After: time.Since(at)}); !again {
			return nil
		}
	}
}

// survives reports whether the turn goes on after its connection was lost.
func (s *Session) survives(b *trace.Builder, l Link, loss Loss) bool {
	if s.life.Err() != nil {
		s.Fail(b, closed())
		return false
	}
	loss.Heard = s.Heard()
	again, end := l.Lost(loss)
	switch {
	case b.Over():
		return false
	case again:
		return true
	default:
		s.Fail(b, end)
		return false
	}
}

// Heard reports whether the agent has said something since the newest prompt.
func (s *Session) Heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// enter makes b the turn of the newest prompt, and writes the notices of a start into it. The notices tell of a lost
// memory, and are not true of a conversation that had no turn before.
func (s *Session) enter(b *trace.Builder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(b) // the prompt may be sent for the second time
	if s.newest != nil && s.newest != b {
		s.past = true
	}
	s.waiting, s.newest, s.heard = b, b, false
	for _, n := range s.notices {
		if s.past {
			b.Emit(n)
		}
	}
	s.notices = nil
}

// forget leaves a turn that did not begin; the caller of Run ends the turn.
func (s *Session) forget(b *trace.Builder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(b)
}

// Restart forgets the turns of an agent that starts from the beginning. Run sends the prompt
// again that the agent has not heard.
func (s *Session) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.waiting = nil, nil
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
