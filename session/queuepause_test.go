package session_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
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
				now, err := b.Get(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				if paused := now.State == session.Paused && now.Turn == first.ID; paused != (c.ended == "") && c.by != "" {
					t.Fatalf("the session is %s in %s", now.State, now.Turn)
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

// atPause is a store that looks at the session before it takes a pause: no reader has seen
// the pause by then.
type atPause struct {
	eventlog.Store
	look func()
}

func (s atPause) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	s.before(events)
	return s.Store.Append(ctx, id, turn, events)
}

func (s atPause) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	s.before(events)
	return s.Store.AppendWith(ctx, e, turn, events)
}

func (s atPause) before(events []trace.Event) {
	if slices.ContainsFunc(events, func(e trace.Event) bool { _, is := e.Payload.(trace.Pause); return is }) {
		s.look()
	} else {
		time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond) // the pause may be queued meanwhile
	}
}

func TestAReaderThatSeesThePauseFindsTheSessionPaused(t *testing.T) {
	t.Parallel()
	for range 200 {
		var b *bench
		found := make(chan session.State, 1)
		store := atPause{memlog.New(), func() { found <- b.state() }}
		b = benchOn(t, eventlog.New(store), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			id, _, _ := request(tb, "1")
			_, err := host.Permit(ctx, id)
			return err
		}}))
		turn := b.say("u1", "x")
		var state session.State
		select {
		case state = <-found:
		case <-time.After(10 * time.Second):
			t.Fatal("the pause does not go on record by itself, after the prompt")
		}
		if _, _, err := b.StopTurn(t.Context(), "s", turn.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		b.close()
		if state != session.Paused {
			t.Fatalf("a session with a visible pause is %s", state)
		}
	}
}
