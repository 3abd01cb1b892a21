package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// A prompt ends its sender's own turn that waits for an answer. The prompt may come just
// before the turn pauses, or just after.
func TestAPromptJustBeforeItsOwnTurnPausesIsLikeOneJustAfter(t *testing.T) {
	for name, c := range map[string]struct {
		by    string
		at    time.Duration
		runs  bool
		ended string
	}{
		"before":               {"ada", 900 * time.Millisecond, true, "unanswered"},
		"after":                {"ada", 1100 * time.Millisecond, true, "unanswered"},
		"before, by another":   {"bob", 900 * time.Millisecond, false, ""},
		"before, and answered": {"", 0, false, "end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ids := make(chan string, 1)
				b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
					if p.Message.ID != "u1" {
						return nil
					}
					time.Sleep(time.Second)
					id, _, _ := request(tb, "1")
					ids <- id
					_, err := host.Permit(ctx, id)
					return err
				}}))
				defer b.close()
				first := b.say("u1", "approve")
				var second session.Turn
				if c.by != "" {
					time.Sleep(c.at)
					var err error
					if second, err = b.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "hello"), By: c.by, MayPermit: true}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if c.by == "" {
					yes := true
					if _, err := b.Permit(t.Context(), "s", <-ids, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err != nil {
						t.Fatal(err)
					}
				}
				_, state, turn, err := b.Get(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				if paused := state == session.Paused && turn == first.ID; paused != (c.ended == "") && c.by != "" {
					t.Fatalf("the session is %s in %s", state, turn)
				}
				if c.ended != "" {
					if s := stopOf(t, b.wait(first)); s.Reason != c.ended {
						t.Errorf("the first turn ended as %+v", s)
					}
				}
				if c.runs {
					if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
						t.Errorf("the second turn ended as %+v", s)
					}
				}
			})
		})
	}
}
