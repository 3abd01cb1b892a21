package session_test

import (
	"context"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// notebook is an agent that says all it remembers: its prompts, the present one
// too. One that begins with slow takes ten seconds; after one that begins with
// task it reports in a turn of its own, a second later.
type notebook struct {
	mute   bool // it tells no token
	clumsy bool // its tokens name no moment
}

// stubborn is a notebook that cannot go back.
type stubborn struct{ agent.Runtime }

func (n notebook) Rewinds(string) bool { return !n.clumsy }

func (n notebook) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	s := &pages{notebook: n, host: host, written: cfg.Resume, busy: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

type pages struct {
	notebook
	host    agent.Host
	written string
	busy    chan struct{} // holds a token while somebody writes
	life    context.Context
	end     context.CancelFunc
}

func (s *pages) write(text string) (all string) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	s.written = strings.TrimPrefix(s.written+"|"+text, "|")
	if !s.mute {
		s.host.Resume(s.written)
	}
	return s.written
}

func (s *pages) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	all := s.write(p.Text())
	if strings.HasPrefix(p.Text(), "slow") && !s.wait(ctx, 10*time.Second) {
		b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
		return nil
	}
	if strings.HasPrefix(p.Text(), "task") {
		go s.report()
	}
	b.Message("all", all)
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil
}

func (s *pages) report() {
	if !s.wait(context.Background(), time.Second) {
		return
	}
	b := s.host.Begin(agent.TurnInfo{Reason: "background_task"})
	b.Message("all", s.write("report"))
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
}

func (s *pages) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
	case <-s.life.Done():
	}
	return false
}

func (s *pages) Close() error {
	s.end()
	return nil
}

// served makes a runtime the agent of a bench.
func served(r agent.Runtime) func(*session.Options) {
	return func(o *session.Options) {
		a := o.Agents["demo"]
		a.Runtime = r
		o.Agents["demo"] = a
		o.MaxQueue = 1000
	}
}

// remembers asks the agent what it remembers, and returns also the code of what
// the session said of that.
func (b *bench) remembers() (all, code string) {
	b.t.Helper()
	for _, r := range b.wait(b.say("", "?")) {
		switch p := r.Payload.(type) {
		case trace.Message:
			all = p.Text
		case trace.Error:
			code = p.Code
		default:
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(all, "?"), "|"), code
}

// wordsOf is what a notebook said in a turn.
func wordsOf(records []trace.Record) (all string) {
	for _, r := range records {
		if m, is := r.Payload.(trace.Message); is {
			all = m.Text
		}
	}
	return all
}
