package echo

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Runtime opens sessions that echo.
type Runtime struct{}

var _ interface {
	agent.Runtime
	agent.Prober
} = Runtime{}

// Probe implements agent.Prober. Echo works everywhere.
func (Runtime) Probe(context.Context) (string, error) { return "built in", nil }

// Open implements agent.Runtime.
func (Runtime) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	life, end := context.WithCancel(context.Background())
	return &session{life: life, end: end}, nil
}

type session struct {
	life context.Context //nolint:containedctx // ends with Close
	end  context.CancelFunc
	turn sync.Mutex // held while a turn runs, so that Close can wait for it
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.life.Err() != nil {
		return errors.New("the echo session is closed: open a new one")
	}
	for _, word := range strings.SplitAfter(p.Text(), " ") {
		if ctx.Err() != nil || s.life.Err() != nil {
			b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
			return nil
		}
		b.MessageDelta("echo", word)
	}
	b.MessageEnd("echo")
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil
}

// Close implements agent.Session. It waits for one more word at most.
func (s *session) Close() error {
	s.end()
	s.turn.Lock()
	defer s.turn.Unlock()
	return nil
}
