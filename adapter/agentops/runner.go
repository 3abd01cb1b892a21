package agentops

import (
	"context"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"
)

// noteRunner takes from a status what it says of the runner.
func (d *Decoder) noteRunner(f wire.StatusData) {
	switch {
	case f.RunnerConnected == nil:
	case *f.RunnerConnected:
		d.runner(came)
	default:
		d.runner(left)
	}
	if f.PromptDequeued {
		d.runner(dealt)
	}
}

// heardOfRunner takes a runner that has come for one that is at work, if something has come
// of that for a while: what it has kept for the session agent comes at once. The caller
// holds s.mu.
func (s *session) heardOfRunner(moves int) {
	switch {
	case s.dec.presence != arriving:
		s.arrived = time.Time{}
	case s.arrived.IsZero():
		s.arrived = time.Now()
	case s.dec.moves > moves && time.Since(s.arrived) >= shortTime:
		s.dec.runner(settles)
	}
}

// mayHaveRunner reports whether there is a runner as far as is known. The caller holds s.mu.
func (s *session) mayHaveRunner() bool {
	return s.link != reopening && (s.link != reading || s.dec.presence != missing)
}

// canAbort reports whether somebody is there who hears of a stop: a session agent without a
// runner forgets it, and lets the next runner go on with the turn. Where nobody reads, and
// nobody is about to, a connection is opened for it. The caller holds s.mu.
func (s *session) canAbort() bool {
	return s.mayHaveRunner() && (s.main == nil || s.dec.presence == present)
}

// awaitRunner waits a while until there is a runner that an answer can be handed to: one
// that comes while a session agent that was started anew has none yet is taken, and lost.
func (s *session) awaitRunner(ctx context.Context) {
	s.watch(ctx, runnerTime, func() bool { return s.mayHaveRunner() || s.link == shut })
}
