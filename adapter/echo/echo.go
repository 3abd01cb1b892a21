package echo

import (
	"context"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
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
	return agentkit.Local{Name: "Echo", Play: play}.Open(), nil
}

func play(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	for word := range strings.SplitAfterSeq(p.Text(), " ") {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.MessageDelta("echo", word)
	}
	b.MessageEnd("echo")
	return nil
}
