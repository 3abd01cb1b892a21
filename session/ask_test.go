package session_test

import (
	"context"
	"errors"
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

func request(b *trace.Builder, id string) (unique string, answer trace.PermissionResponse, decided bool) {
	b.ToolCall(trace.ToolCall{ToolCallID: "t-" + id, RawName: "shell", Name: "shell", ToolKind: trace.ToolExecute})
	return b.PermissionRequest(trace.PermissionRequest{RequestID: id, ToolCallID: "t-" + id, Title: "Run it", Options: []trace.PermissionOption{
		{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
	}})
}

// Agents count their requests anew in each process, and some run several turns at
// once. What was allowed once is not allowed because the number comes again, and a
// button that was left on a page does not answer what is asked later.
func TestAnAnswerIsNotTakenForAnotherTurnsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		var outcomes []trace.PermissionOutcome
		o := with(t, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) error {
			if p.Message.ID == "u3" { // a turn of the agent's own goes on beside the prompt's
				other := host.Begin(agent.TurnInfo{})
				id, _, _ := request(other, "1")
				asked = append(asked, id)
				defer other.End(trace.Stop{Outcome: trace.OutcomeCompleted})
			}
			id, _, _ := request(tb, "1")
			asked = append(asked, id)
			answer, err := host.Permit(ctx, id)
			outcomes = append(outcomes, answer.Outcome)
			return err
		}})
		log := eventlog.New(memlog.New(), eventlog.Options{})
		b := benchOn(t, log, o)
		yes := true
		for i, id := range []string{"u1", "u2", "u3"} {
			if id == "u2" { // the process starts anew
				if err := b.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				b = benchOn(t, log, o)
			}
			turn := b.say(id, "x")
			time.Sleep(2 * time.Second)
			synctest.Wait() // orders what the agent has written before what is read here
			for _, old := range asked[:len(asked)-1] {
				if _, err := b.Permit(t.Context(), "s", old, "ada", session.Choice{Approved: &yes}); err == nil && id != "u3" {
					t.Errorf("%s: the old id %q was taken for an answer", id, old)
				}
			}
			if len(outcomes) != i {
				t.Fatalf("%s was allowed before anybody answered", id)
			}
			if _, err := b.Permit(t.Context(), "s", asked[len(asked)-1], "ada", session.Choice{Approved: &yes}); err != nil {
				t.Fatal(id, err)
			}
			b.wait(turn)
		}
		b.close()
		if different := slices.Compact(slices.Sorted(slices.Values(asked))); len(asked) != 4 || len(different) != 4 {
			t.Errorf("asked as %v", asked)
		}
		for i, o := range outcomes {
			if o != trace.Selected {
				t.Errorf("request %d: %s", i, o)
			}
		}
	})
}

// An answer that comes as the turn is being stopped is not reported as taken when
// the record says that the request was withdrawn, and the agent doesn't act on it.
func TestAnAnswerThatRacesWithTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		permitted, more, asked := make(chan trace.PermissionResponse, 1), make(chan struct{}), make(chan string, 1)
		b := benchOn(t, eventlog.New(bad, eventlog.Options{}), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			id, _, _ := request(tb, "1")
			asked <- id
			<-more
			tb.Message("", "I wait.")
			answer, err := host.Permit(ctx, id)
			permitted <- answer
			return err
		}}))
		defer b.close()
		turn := b.say("u1", "x")
		synctest.Wait()
		gate := make(chan struct{})
		bad.on(func(string, []trace.Event) error {
			<-gate
			return nil
		})
		close(more)
		synctest.Wait() // the log is busy with what the agent says
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			_, _, _ = b.StopTurn(context.Background(), "s", turn.ID, "ada")
		}()
		synctest.Wait()
		yes := true
		var answered *session.AnsweredError
		if _, err := b.Permit(t.Context(), "s", <-asked, "bob", session.Choice{Approved: &yes}); !errors.As(err, &answered) || answered.Outcome != trace.Canceled {
			t.Errorf("the late answer gets %v", err)
		}
		close(gate)
		<-stopped
		if answer := <-permitted; answer.Outcome != trace.Canceled {
			t.Errorf("the agent was told %+v", answer)
		}
	})
}
