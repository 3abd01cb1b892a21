package cli

import (
	"context"

	"github.com/tributary-dev/tributary/adapter/claude"
	commandline "github.com/tributary-dev/tributary/adapter/command"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// guardedRuntime runs Claude Code as a command line. Its prompts read files and change
// settings as those of the adapter claude do.
type guardedRuntime struct{ commandline.Runtime }

// Open implements agent.Runtime.
func (r guardedRuntime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	s, err := r.Runtime.Open(ctx, host, cfg)
	if err != nil {
		return nil, err
	}
	return guardedSession{s, host}, nil
}

type guardedSession struct {
	agent.Session

	host agent.Host
}

// Prompt implements agent.Session.
func (s guardedSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	p, err := claude.Guard(p, s.host)
	if err != nil {
		b.End(trace.Stop{Reason: "command_refused", Outcome: trace.OutcomeFailed, Error: err.Error()})
		return nil //nolint:nilerr // the turn has failed, and says why
	}
	return s.Session.Prompt(ctx, p, b)
}
