package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// shoutAdapter says what the agent takes and how it is made.
func shoutAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "shout", Keys: []string{"options"},
		InProcess: true, // a session costs no process
		Harmless:  true, // it runs no commands and touches no files
		New: func(s agent.Settings) (agent.Runtime, error) {
			o := options{Mark: "!"}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			return runtime{o}, nil
		},
	}
}

// options are what `agents.NAME.options` may say.
type options struct {
	Mark string `json:"mark"`
}

type runtime struct{ options }

// Probe implements agent.Prober.
func (runtime) Probe(context.Context) (string, error) { return "1.0.0", nil }

// Open implements agent.Runtime.
func (r runtime) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return &session{options: r.options}, nil
}

type session struct {
	options
	closed atomic.Bool
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if s.closed.Load() {
		return errors.New("this session is closed: open a new one")
	}
	if ctx.Err() != nil {
		b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
		return nil
	}
	b.Message("reply", strings.ToUpper(p.Text())+s.Mark)
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil
}

// Close implements agent.Session.
func (s *session) Close() error {
	s.closed.Store(true)
	return nil
}
