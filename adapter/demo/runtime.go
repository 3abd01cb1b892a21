package demo

import (
	"cmp"
	"context"
	"sync"
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
func (r Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	s := &session{pace: r.Pace, host: host}
	if err := s.setMode(cmp.Or(cfg.Mode, modes()[0].ID)); err != nil {
		return nil, err
	}
	if err := s.setModel(cmp.Or(cfg.Model, models()[0].ID)); err != nil {
		return nil, err
	}
	host.Note(trace.Commands(commands()))
	host.Resume(inHistory)
	s.Session = agentkit.Local{Name: "The demo", Play: s.play}.Open()
	return s, nil
}

type session struct {
	agent.Session

	pace    time.Duration
	host    agent.Host
	earlier []string // the prompts of earlier turns; the first turn reads them

	mu          sync.Mutex
	mode, model string
	playing     bool     // a script plays
	steered     []string // the messages that came since
	never       []string // commands that somebody has refused for good
}

// play plays the script of a prompt.
func (s *session) play(ctx context.Context, p agent.Prompt, b *trace.Builder) (err error) {
	if s.earlier == nil {
		if s.earlier, err = recall(ctx, s.host); err != nil {
			return err
		}
	}
	st := &stage{session: s, ctx: ctx, b: b, prompt: p.Text()}
	s.mu.Lock()
	st.mode, st.model = s.mode, s.model
	s.playing = true
	s.mu.Unlock()
	choose(st.prompt)(st)
	st.heard()
	s.earlier = append(s.earlier, shorten(p))
	return st.err
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }
