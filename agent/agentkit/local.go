package agentkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// closeWithin bounds how long Close waits for a turn of a Local.
const closeWithin = 10 * time.Second

// ErrInterrupted ends a turn because the person who denied a call wanted that.
var ErrInterrupted = errors.New("the person who denied a call ended the turn")

// Local describes a session with an agent that lives in this process.
type Local struct {
	// Name is the agent's name for people. Sentences begin with it.
	Name string
	// Play plays a turn. ctx ends when a person stops the turn and when the session is
	// closed. The turn completes if Play returns nil, and fails with the sentence of any
	// other error, unless Play has called End. Calls come one at a time.
	Play func(ctx context.Context, p agent.Prompt, b *trace.Builder) error
	// Release frees what the session holds. Close calls Release once, after the last
	// turn. Release may be nil.
	Release func()
}

// Open returns the session.
func (l Local) Open() agent.Session {
	s := &localSession{Local: l, turn: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

type localSession struct {
	Local
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelFunc
	turn    chan struct{} // holds a token while a turn runs
	release sync.Once
}

// Prompt implements agent.Session.
func (s *localSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.turn <- struct{}{} // only Close can hold the token now
	defer func() { <-s.turn }()
	if s.life.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // Close ends the turn, too
	err := s.Play(ctx, p, b)
	var refused *PromptError
	switch {
	case errors.As(err, &refused):
		b.End(trace.Stop{Reason: refused.Reason, Outcome: trace.OutcomeFailed, Class: refused.Class, Error: refused.Sentence})
	case errors.Is(err, ErrInterrupted):
		b.End(trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled})
	case ctx.Err() != nil:
		b.End(stopped())
	case err != nil:
		b.End(trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: err.Error()})
	default:
		b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	}
	return nil
}

// Close implements agent.Session.
func (s *localSession) Close() error {
	s.end()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-time.After(closeWithin):
		return fmt.Errorf("%s did not end its turn within %s: a tool does not stop", s.Name, closeWithin)
	}
	if s.Release != nil {
		s.release.Do(s.Release)
	}
	return nil
}
