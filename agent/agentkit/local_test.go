package agentkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// plays opens a session with an agent in this process.
func plays(play func(context.Context, *trace.Builder) error) agent.Session {
	return agentkit.Local{
		Name: "The toy",
		Play: func(ctx context.Context, _ agent.Prompt, b *trace.Builder) error { return play(ctx, b) },
	}.Open()
}

func TestTheTurnOfALocalAgentEndsAsItsFunctionDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(context.Context, *trace.Builder) error
		want trace.Stop
	}{
		"nil completes": {
			func(context.Context, *trace.Builder) error { return nil },
			trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted},
		},
		"an error fails": {
			func(context.Context, *trace.Builder) error { return errors.New("the model is gone") },
			trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "the model is gone"},
		},
		"a refusal that ends the turn": {
			func(context.Context, *trace.Builder) error { return agentkit.ErrInterrupted },
			trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled},
		},
		"the function ends the turn itself": {
			func(_ context.Context, b *trace.Builder) error {
				b.End(trace.Stop{Reason: "max_steps", Outcome: trace.OutcomeFailed, Error: "Too many steps."})
				return nil
			},
			trace.Stop{Reason: "max_steps", Outcome: trace.OutcomeFailed, Error: "Too many steps."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r := plays(c.play), agenttest.NewRecorder()
			if err := s.Prompt(t.Context(), agent.Prompt{}, r.Builder); err != nil {
				t.Fatal(err)
			}
			if got, _ := r.Result(); got != c.want {
				t.Errorf("the turn ended as %+v, want %+v", got, c.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStopAndACloseCancelTheTurnOfALocalAgent(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := plays(func(ctx context.Context, _ *trace.Builder) error {
				<-ctx.Done()
				return ctx.Err()
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				time.Sleep(time.Second)
				if !closing {
					cancel()
				} else if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			r := agenttest.NewRecorder()
			if err := s.Prompt(ctx, agent.Prompt{}, r.Builder); err != nil {
				t.Fatal(err)
			}
			if got, _ := r.Result(); got.Outcome != trace.OutcomeCanceled || got.Reason != "stopped" {
				t.Errorf("the turn ended as %+v", got)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAClosedLocalSessionTakesNoPromptAndReleasesOnce(t *testing.T) {
	t.Parallel()
	released := 0
	s := agentkit.Local{Play: func(context.Context, agent.Prompt, *trace.Builder) error {
		t.Error("a closed session has played a turn")
		return nil
	}, Release: func() { released++ }}.Open()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Prompt(t.Context(), agent.Prompt{}, agenttest.NewRecorder().Builder); !errors.Is(err, agentkit.ErrClosed) {
		t.Errorf("Prompt returned %v", err)
	}
	if released != 1 {
		t.Errorf("the session was released %d times", released)
	}
}

func TestCloseDoesNotWaitForEverForALocalAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		s, r := plays(func(context.Context, *trace.Builder) error {
			<-let
			return nil
		}), agenttest.NewRecorder()
		go func() { _ = s.Prompt(t.Context(), agent.Prompt{}, r.Builder) }()
		synctest.Wait()
		if err := s.Close(); err == nil || !strings.HasPrefix(err.Error(), "The toy did not end its turn within 10s") {
			t.Errorf("Close returned %v", err)
		}
		close(let)
		if err := s.Close(); err != nil {
			t.Errorf("after the turn Close returned %v", err)
		}
	})
}
