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
	}}, trace.ToolCall{})
}

// Agents restart their counts of requests in each process, and some run several
// turns at once. An old approval does not count when its number comes again, and an
// old button on a page does not answer a later request.
//
//evidence:for promise-one-answer
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
		log := eventlog.New(memlog.New())
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
			synctest.Wait()
			for _, old := range asked[:len(asked)-1] {
				if _, err := b.Permit(t.Context(), "s", old, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err == nil && id != "u3" {
					t.Errorf("%s: the old id %q was taken for an answer", id, old)
				}
			}
			if len(outcomes) != i {
				t.Fatalf("%s was allowed before anybody answered", id)
			}
			if _, err := b.Permit(t.Context(), "s", asked[len(asked)-1], session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err != nil {
				t.Fatal(id, err)
			}
			b.wait(turn)
			synctest.Wait()
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

// An answer may come while the turn is being stopped. If the record says that the request
// was withdrawn, the answer is not reported as taken, and the agent does not act on it.
//
//evidence:for promise-one-answer
func TestAnAnswerThatRacesWithTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		permitted, more, asked := make(chan trace.PermissionResponse, 1), make(chan struct{}), make(chan string, 1)
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
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
		gate := bad.busy()
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
		if _, err := b.Permit(t.Context(), "s", <-asked, session.Sender{By: "bob"}, session.Choice{Approved: &yes}); !errors.As(err, &answered) || answered.Outcome != trace.Canceled {
			t.Errorf("the late answer gets %v", err)
		}
		close(gate)
		<-stopped
		if answer := <-permitted; answer.Outcome != trace.Canceled {
			t.Errorf("the agent was told %+v", answer)
		}
	})
}

// Words that come as the agent takes its question back are no answer to it any more:
// they are a prompt like any other, and not lost.
func TestWordsThatRaceWithAWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		more := make(chan struct{})
		var heard []string
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, tb *trace.Builder) error {
			heard = append(heard, p.Text())
			if p.Text() != "ask" {
				return nil
			}
			tb.ToolCall(trace.ToolCall{ToolCallID: "t", RawName: "ask"})
			tb.Question(trace.Question{QuestionID: "q", ToolCallID: "t", Text: "Which?"})
			<-more
			tb.Message("", "Never mind.")
			time.Sleep(time.Second)
			tb.ToolResult(trace.ToolResult{ToolCallID: "t", Status: trace.ToolCanceled})
			time.Sleep(10 * time.Second) // and goes on with something else
			return nil
		}}))
		defer b.close()
		first := b.say("u1", "ask")
		synctest.Wait()
		gate := bad.busy()
		close(more)
		time.Sleep(2 * time.Second) // the log is busy, so that nobody knows yet
		go func() {
			time.Sleep(time.Second)
			bad.on(nil)
			close(gate)
		}()
		turn := b.say("u2", "blue")
		b.wait(first)
		b.wait(turn)
		if want := []string{"ask", "blue"}; !slices.Equal(heard, want) {
			t.Errorf("the agent heard %q, want %q", heard, want)
		}
		if got, want := b.history(), "u1 A u2 A"; got != want {
			t.Errorf("history %s, want %s", got, want)
		}
	})
}

// The agent acts on an answer when that is on record, and not at all if it cannot
// be written. Then the person who gave the answer does not hear that it was taken.
func TestAnAnswerThatIsNotOnRecord(t *testing.T) {
	for name, fault := range map[string]error{"is written late": nil, "cannot be written": errors.New("the disk is full")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := newBadLog()
				asked, permitted := make(chan string, 1), make(chan trace.PermissionResponse, 1)
				b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
					id, _, _ := request(tb, "1")
					asked <- id
					answer, err := host.Permit(ctx, id)
					permitted <- answer
					return err
				}}))
				defer b.close()
				b.say("u1", "x")
				synctest.Wait()
				gate := make(chan struct{})
				bad.on(func(string, []trace.Event) error {
					<-gate
					return fault
				})
				answered := make(chan error, 1)
				go func() {
					yes := true
					_, err := b.Permit(context.Background(), "s", <-asked, session.Sender{By: "ada"}, session.Choice{Approved: &yes})
					answered <- err
				}()
				synctest.Wait()
				if len(permitted) > 0 || len(answered) > 0 {
					t.Error("the answer counts before it is on record")
				}
				bad.on(nil)
				close(gate)
				if err := <-answered; (err == nil) != (fault == nil) {
					t.Errorf("who answered is told %v", err)
				}
				if answer := <-permitted; (answer.Outcome == trace.Selected) != (fault == nil) {
					t.Errorf("the agent is told %+v", answer)
				}
			})
		})
	}
}

// An agent on another server may report an answer that a person gave there, and stop
// waiting for its own answer at once.
func TestAnAnswerGivenElsewhereIsNotTakenForAWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		asked, more := make(chan string, 1), make(chan struct{})
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			id, _, _ := request(tb, "1")
			asked <- id
			<-more
			tb.Message("", "Bob answers elsewhere.")
			time.Sleep(time.Second) // the log is busy with that
			waiting, leave := context.WithCancel(ctx)
			tb.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, OptionKind: trace.AllowOnce, By: "bob"})
			leave()
			_, err := host.Permit(waiting, id)
			<-ctx.Done()
			return err
		}}))
		defer b.close()
		turn := b.say("u1", "x")
		synctest.Wait()
		gate := bad.busy()
		close(more)
		time.Sleep(2 * time.Second)
		close(gate)
		synctest.Wait()
		yes := true
		var answered *session.AnsweredError
		if _, err := b.Permit(t.Context(), "s", <-asked, session.Sender{By: "eve"}, session.Choice{Approved: &yes}); !errors.As(err, &answered) || answered.By != "bob" {
			t.Errorf("a second person is told: %v", err)
		}
		_, _, _ = b.StopTurn(t.Context(), "s", turn.ID, "ada")
	})
}

// A yes, and the words that answer a question, count only if the sender's page shows the request.
func TestWordsAnswerOnlyARequestThatThePageShows(t *testing.T) {
	for what, words := range map[string]string{"approve": "yes", "question": "blue"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, tb *trace.Builder) (err error) {
				if p.Text() == "question" {
					_, err = host.Ask(ctx, tb.Question(trace.Question{QuestionID: "q", Text: "Which?"}))
					return err
				}
				id, _, _ := request(tb, "1")
				_, err = host.Permit(ctx, id)
				return err
			}}))
			defer b.close()
			turn, id := b.pause("u1", what)
			say := func(shown ...string) (session.Turn, error) {
				return b.Prompt(t.Context(), "s", session.Prompt{Message: text("", words), By: "ada", MayPermit: true, Shown: shown})
			}
			for _, shown := range [][]string{{}, {"another"}} {
				if _, err := say(shown...); !errors.Is(err, session.ErrStale) || b.state() != session.Paused {
					t.Errorf("a page that shows %v answers: %v, and the session is %s", shown, err, b.state())
				}
			}
			if answered, err := say("another", id); answered.ID != turn.ID || err != nil {
				t.Errorf("a page that shows the request does not answer: %+v, %v", answered, err)
			}
			if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
				t.Errorf("the turn ends with %+v", s)
			}
		})
	}
}
