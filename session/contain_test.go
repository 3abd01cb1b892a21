package session_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// faulty is an agent whose adapter panics in one of its methods, named by at.
type faulty struct{ at atomic.Value }

func (f *faulty) panicAt(method string) {
	if f.at.Load() == method {
		panic("a fault in " + method)
	}
}

func (f *faulty) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	f.panicAt("Open")
	return f, nil
}

func (f *faulty) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	f.panicAt("Prompt")
	if p.Text() == "slow" {
		time.Sleep(time.Minute)
	}
	b.Message("m", "an answer")
	return nil
}

func (f *faulty) Close() error {
	f.panicAt("Close")
	return nil
}

func (f *faulty) Introduce(string, agent.Caller) error {
	f.panicAt("Introduce")
	return nil
}

func (f *faulty) Conversations(context.Context, agent.Config) ([]agent.Conversation, error) {
	f.panicAt("Conversations")
	return nil, nil
}

func (f *faulty) Controls() agent.Controls {
	f.panicAt("Controls")
	return agent.Controls{
		Steer:   func(context.Context, agent.Prompt) error { f.panicAt("Steer"); return nil },
		SetMode: func(context.Context, string) error { f.panicAt("SetMode"); return nil },
	}
}

// A panic of an adapter ends the turn or the call that met it; the next turn of the session works.
func TestAPanicOfAnAdapterEndsNoOtherTurn(t *testing.T) {
	t.Parallel()
	during := func(do func(*bench) error) func(*bench) error {
		return func(b *bench) error {
			turn := b.say("", "slow")
			synctest.Wait()
			err := do(b)
			b.wait(turn)
			return err
		}
	}
	prompt := func(b *bench) error {
		s := stopOf(b.t, b.wait(b.say("", "hello")))
		if s.Outcome != trace.OutcomeFailed {
			b.t.Errorf("the turn ended with %+v", s)
		}
		return errors.New(s.Error)
	}
	for method, call := range map[string]func(*bench) error{
		"Open":          prompt,
		"Prompt":        prompt,
		"Conversations": func(b *bench) error { _, err := b.Conversations(b.t.Context(), "demo"); return err },
		"Steer":         during(func(b *bench) error { return b.Steer(b.t.Context(), "s", steered("x")) }),
		"SetMode": during(func(b *bench) error {
			mode := "quick"
			_, err := b.Change(b.t.Context(), "s", session.Change{Mode: &mode})
			return err
		}),
		"Close": func(b *bench) error {
			b.wait(b.say("", "hello"))
			time.Sleep(time.Hour) // the idle agent is closed meanwhile, by a timer
			return nil
		},
		"Controls": during(func(b *bench) error { return b.Steer(b.t.Context(), "s", steered("x")) }),
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &faulty{}
				f.at.Store(method)
				b := newBench(t, func(o *session.Options) {
					o.Agents["demo"] = session.Agent{Runtime: f, Cwd: t.TempDir(), InProcess: true}
				})
				b.t = t
				defer b.close()
				if err := call(b); method != "Close" && method != "Controls" && (err == nil || !strings.Contains(err.Error(), "a fault in "+method)) {
					t.Errorf("the caller got %v", err)
				}
				f.at.Store("")
				if s := stopOf(t, b.wait(b.say("", "hello"))); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("the next turn ended with %+v", s)
				}
			})
		})
	}
}
