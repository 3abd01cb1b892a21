package demo

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// DefaultPace is a comfortable speed to read at.
const DefaultPace = 20 * time.Millisecond

// Runtime opens sessions with the demo.
type Runtime struct {
	// Pace is the time between two words; 0 is no waiting.
	Pace time.Duration
}

var _ interface {
	agent.Runtime
	agent.Prober
	agent.Rewinder
} = Runtime{}

// inHistory is the resume token of every session: the conversation is the gateway's.
const inHistory = "history"

// Probe implements agent.Prober. The demo works everywhere.
func (Runtime) Probe(context.Context) (string, error) { return "built in", nil }

// Rewinds implements agent.Rewinder. A new session reads the gateway's history.
func (Runtime) Rewinds(string) bool { return true }

// Open implements agent.Runtime.
func (r Runtime) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	s := &session{pace: r.Pace, host: host}
	return agentkit.Local{Name: "The demo", Play: s.play}.Open(), nil
}

type session struct {
	pace    time.Duration
	host    agent.Host
	earlier []string // the prompts of earlier turns; the first turn reads them
}

// play plays the script of a prompt.
func (s *session) play(ctx context.Context, p agent.Prompt, b *trace.Builder) (err error) {
	if s.earlier == nil {
		if s.earlier, err = recall(ctx, s.host); err != nil {
			return err
		}
	}
	s.host.Resume(inHistory)
	st := &stage{session: s, ctx: ctx, b: b, prompt: p.Text()}
	choose(st.prompt)(st)
	s.earlier = append(s.earlier, shorten(p))
	return st.err
}
