package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// closeWithin bounds how long Close waits for a turn.
const closeWithin = 5 * time.Second

var errClosed = errors.New("the demo's session is closed: open a new one")

type session struct {
	pace time.Duration
	host agent.Host
	life context.Context //nolint:containedctx // ends with Close
	end  context.CancelFunc
	busy chan struct{} // holds a token while a turn runs; guards memory
	memory
}

var _ agent.Session = (*session)(nil)

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.life.Err() != nil {
		return errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // the end of the session ends the turn too

	earlier := s.prompts
	s.memory = s.with(p.Text())
	s.host.Resume(s.token())
	st := &stage{ctx: ctx, b: b, host: s.host, pace: s.pace, prompt: p.Text(), turn: s.turns, earlier: earlier}
	b.End(verdict(choose(p.Text())(st)))
	return nil
}

// Close implements agent.Session.
func (s *session) Close() error {
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("the demo's turn did not end within %s: its trace accepts no more events", closeWithin)
	}
	s.leave()
	return nil
}

func (s *session) enter(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}: // even if ctx has ended: the turn says so itself
		return nil
	default:
	}
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) leave() { <-s.busy }

// verdict says how a script's end is told.
func verdict(err error) trace.Stop {
	var f failure
	switch {
	case err == nil:
		return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
	case errors.Is(err, errInterrupted):
		return trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled}
	case errors.As(err, &f):
		return trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: string(f)}
	default:
		return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
	}
}
