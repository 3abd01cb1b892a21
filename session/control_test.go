package session_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// helm is an agent with controls: its turn lasts until somebody steers it to the end.
type helm struct {
	mu     sync.Mutex
	opened []agent.Config
	set    []string
	stay   chan string
	over   chan struct{} // closed at the end of a turn; nil: a steer does not wait for it
}

func (h *helm) Open(_ context.Context, _ agent.Host, cfg agent.Config) (agent.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, cfg)
	return h, nil
}

func (h *helm) Prompt(ctx context.Context, _ agent.Prompt, b *trace.Builder) error {
	select {
	case text := <-h.stay:
		b.Message("m", "steered: "+text)
	case <-ctx.Done():
	}
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	if h.over != nil {
		close(h.over)
	}
	return nil
}

func (h *helm) Close() error { return nil }

func (h *helm) Controls() agent.Controls {
	return agent.Controls{
		Steer: func(_ context.Context, p agent.Prompt) error {
			h.stay <- p.Text()
			if h.over != nil {
				<-h.over
			}
			return nil
		},
		SetMode: func(_ context.Context, mode string) error {
			if mode == "wild" {
				return errors.New("there is no mode wild")
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.set = append(h.set, mode)
			return nil
		},
	}
}

func newHelm(t *testing.T) (*helm, *bench) {
	t.Helper()
	h := &helm{stay: make(chan string)}
	return h, newBench(t, func(o *session.Options) {
		o.Agents["demo"] = session.Agent{Runtime: h, Cwd: t.TempDir(), InProcess: true}
		o.OnDisconnect = session.Detach
	})
}

func steered(words string) session.Prompt {
	return session.Prompt{Message: text("", words), By: "ada"}
}

// TestAMessageSteersTheRunningTurn: it is on record also if the turn has ended with it.
func TestAMessageSteersTheRunningTurn(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h, b := newHelm(t)
			defer b.close()
			if ends {
				h.over = make(chan struct{})
			}
			if err := b.Steer(t.Context(), "s", steered("early")); err == nil || !strings.Contains(err.Error(), "no turn runs") {
				t.Errorf("a message without a turn gives %v", err)
			}
			b.say("u1", "sail")
			synctest.Wait()
			if err := b.Steer(t.Context(), "s", steered("north")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			var records strings.Builder
			for r, err := range b.log.Durable(t.Context(), "s", 0, 0) {
				if err != nil {
					t.Fatal(err)
				}
				line, _ := r.MarshalJSON()
				records.Write(line)
			}
			for _, want := range []string{`"text":"steered: north"`, `"name":"steer"`, `{"text":"north","by":"ada"}`} {
				if strings.Count(records.String(), want) != 1 {
					t.Errorf("a turn that ends before the record %v: %s is not once on record: %s", ends, want, records.String())
				}
			}
		})
	}
}

func TestAModeHoldsAtOnceAndAtTheNextStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, b := newHelm(t)
		defer b.close()
		plan, wild, fast := "plan", "wild", "fast"
		if _, err := b.Change(t.Context(), "s", session.Change{Mode: &plan, Model: &fast}); err != nil {
			t.Fatal(err)
		}
		b.say("u1", "sail")
		synctest.Wait()
		if got := h.opened[0]; got.Mode != plan || got.Model != fast {
			t.Errorf("the agent was opened with the mode %q and the model %q", got.Mode, got.Model)
		}
		if _, err := b.Change(t.Context(), "s", session.Change{Mode: &wild}); err == nil || err.Error() != "there is no mode wild" {
			t.Errorf("a mode that the agent refuses gives %v", err)
		}
		if _, err := b.Change(t.Context(), "s", session.Change{Model: &plan}); err == nil || !strings.Contains(err.Error(), "model of this agent cannot be changed") {
			t.Errorf("a change that the agent does not offer gives %v", err)
		}
		if info, err := b.Change(t.Context(), "s", session.Change{Mode: &fast}); err != nil || info.Mode != fast || len(h.set) != 1 {
			t.Errorf("the session has the mode %q, the agent %v: %v", info.Mode, h.set, err)
		}
	})
}
