package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// endless is an agent that does one thing for ever, and tells when it was stopped.
type endless struct {
	do      func(n int, b *trace.Builder)
	stopped chan struct{}
}

func (e endless) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return e, nil
}
func (endless) Close() error { return nil }

func (e endless) Prompt(ctx context.Context, _ agent.Prompt, b *trace.Builder) error {
	for n := 0; ctx.Err() == nil; n++ {
		e.do(n, b)
	}
	e.stopped <- struct{}{}
	return context.Cause(ctx)
}

// An agent that never comes to an end is stopped before it has filled the disk,
// and its turn says why.
//
//evidence:for limit-turn-bytes limit-turn-records
func TestATurnThatIsTooMuch(t *testing.T) {
	words := strings.Repeat("word ", 1000)
	for name, c := range map[string]struct {
		do    func(n int, b *trace.Builder)
		bytes int64
		want  string
	}{
		"text in one part": {func(_ int, b *trace.Builder) { b.MessageDelta("p", words) }, 1 << 20, "1 MB in this turn"},
		"outputs of tools": {func(n int, b *trace.Builder) {
			id := fmt.Sprint("call", n)
			b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "t", Name: "t", ToolKind: trace.ToolOther, Input: []byte("{}")})
			b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: []byte(`"` + words + `"`)})
		}, 1 << 20, "1 MB in this turn"},
		"parts": {func(n int, b *trace.Builder) {
			b.Emit(trace.Data{Name: "x", ID: fmt.Sprint(n), Value: []byte("1")})
		}, 1 << 40, "500 records in this turn"},
	} {
		t.Run(name, func(t *testing.T) {
			e := endless{c.do, make(chan struct{}, 1)}
			b := newBench(t, func(o *session.Options) {
				o.MaxTurnBytes, o.MaxTurnRecords = c.bytes, 500
				o.Agents["demo"] = session.Agent{Runtime: e, Cwd: t.TempDir(), Policy: permission.Default()}
			})
			defer b.close()
			records := b.wait(b.say("u1", "go"))
			select {
			case <-e.stopped:
			case <-time.After(30 * time.Second):
				t.Fatal("the agent goes on")
			}
			stop, ok := records[len(records)-1].Payload.(trace.Stop)
			if !ok || stop.Outcome != trace.OutcomeFailed || stop.Reason != "too_much" || !strings.Contains(stop.Error, c.want) {
				t.Errorf("the last record is %+v", records[len(records)-1].Payload)
			}
			total := 0
			for _, r := range records {
				total += trace.ApproxSize(r.Payload)
			}
			// Events that waited in the Builder are written too, and the whole of a part
			// repeats them.
			if total > 16<<20 || len(records) > 50_000 {
				t.Errorf("%d records of %d bytes came to an end that was due at 500 of 1 MB", len(records), total)
			}
		})
	}
}

func TestManySmallWordsAreNotTooMuch(t *testing.T) {
	b := newBench(t, func(o *session.Options) {
		o.MaxTurnBytes = 1 << 20
		o.Agents["demo"] = session.Agent{Runtime: scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
			for range 20_000 {
				b.MessageDelta("p", "word ")
			}
			return nil
		}}, Cwd: t.TempDir()}
	})
	defer b.close()
	if stop := stopOf(t, b.wait(b.say("u1", "go"))); stop.Outcome != trace.OutcomeCompleted || len(stop.FinalOutput) != 100_000 {
		t.Errorf("100 kB of text, where 1 MB is allowed, end with %s: %s", stop.Reason, stop.Error)
	}
}

// All turns together hold so much memory. The turn that would hold more ends, and its memory is
// free again. A small turn runs beside them.
//
//evidence:for limit-held
func TestTurnsTogetherHoldBoundedMemory(t *testing.T) {
	t.Parallel()
	const each = 3 << 20
	holds, leave := make(chan struct{}, 9), make(chan struct{})
	does := func(prompt func(context.Context, *trace.Builder) error) session.Agent {
		run := func(ctx context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error { return prompt(ctx, b) }
		return session.Agent{Runtime: scripted{prompt: run}, Cwd: t.TempDir(), InProcess: true}
	}
	b := newBench(t, func(o *session.Options) {
		o.MaxHeldBytes = 2*each + each/2
		o.Agents["small"] = does(func(_ context.Context, b *trace.Builder) error {
			b.Message("p", "small")
			return nil
		})
		o.Agents["large"] = does(func(ctx context.Context, b *trace.Builder) error {
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c"})
			b.ToolCallDelta("c", strings.Repeat("x", each))
			holds <- struct{}{}
			select {
			case <-leave:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	defer b.close()
	begin := func(id, agent string) session.Turn {
		if _, err := b.Ensure(t.Context(), session.Spec{ID: id, Agent: agent}); err != nil {
			t.Fatal(err)
		}
		turn, err := b.Prompt(t.Context(), id, promptOf("u-"+id, "ada"))
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	end := func(turn session.Turn) trace.Stop {
		var records []trace.Record
		for r, err := range b.Follow(t.Context(), turn.Session, turn.ID, turn.After) {
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		return stopOf(t, records)
	}
	running := []session.Turn{begin("first", "large"), begin("second", "large")}
	<-holds
	<-holds
	if stop := end(begin("third", "large")); stop.Reason != trace.ReasonTooMuch || !strings.Contains(stop.Error, "which is the most that they may have together") {
		t.Errorf("the third turn ends with %+v", stop)
	}
	if stop := end(begin("fourth", "small")); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("a small turn ends with %+v", stop)
	}
	close(leave)
	for _, turn := range running {
		if stop := end(turn); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s ends with %+v", turn.Session, stop)
		}
	}
	if stop := end(begin("fifth", "large")); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("a turn after them ends with %+v", stop)
	}
}

// The bound on prompts is each principal's own, counts what waits too, and what
// has ended no more.
//
//evidence:for limit-prompts
func TestPromptsOfOnePrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.MaxPrompts = 3 })
		defer b.close()
		prompt := func(where, message, by string) error {
			_, err := b.Prompt(t.Context(), where, promptOf(message, by))
			return err
		}
		for i := range 3 {
			if _, err := b.Ensure(t.Context(), session.Spec{ID: fmt.Sprint("other", i)}); err != nil {
				t.Fatal(err)
			}
		}
		for i, where := range []string{"s", "s", "other0"} { // the second waits
			if err := prompt(where, fmt.Sprint("u", i), "ada"); err != nil {
				t.Fatal(err)
			}
		}
		if err := prompt("other1", "u3", "ada"); !errors.Is(err, session.ErrTooManyPrompts) {
			t.Errorf("a fourth prompt: %v", err)
		}
		if err := prompt("other1", "u3", "bob"); err != nil {
			t.Errorf("somebody else's prompt: %v", err)
		}
		// An edit ends what it replaces, and so there is room for it.
		if err := prompt("s", "u0", "ada"); err != nil {
			t.Errorf("an edit: %v", err)
		}
		if _, done, err := b.StopTurn(t.Context(), "other0", "", "ada"); !done || err != nil {
			t.Fatal(done, err)
		}
		if err := prompt("other2", "u4", "ada"); err != nil {
			t.Errorf("after one was stopped: %v", err)
		}
	})
}

func promptOf(message, by string) session.Prompt {
	return session.Prompt{Message: text(message, "slow"), By: by}
}

// Ten thousand sessions that were prompted once and left cost nothing after a
// while, and can still be listed.
//
//evidence:for limit-sessions promise-nothing-left
func TestTenThousandSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes ten thousand sessions")
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{Runtime: echo.Runtime{}, Cwd: t.TempDir(), InProcess: true}
		})
		defer b.close()
		const many = 10_000
		for i := range many {
			id := fmt.Sprint("random", i)
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id, By: "ada"}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Prompt(t.Context(), id, promptOf("u1", "ada")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // else they would be too many at once for one principal
		}
		time.Sleep(time.Hour)
		if n, dirs := b.InMemory(), b.OpenDirs(); n != 0 || dirs != 0 {
			t.Errorf("%d sessions in memory, %d directories", n, dirs)
		}
		if all, _, err := b.List(t.Context(), session.Selection{}, 0, many+2); err != nil || len(all) != many+1 || all[0].State != session.Idle {
			t.Errorf("%d sessions are listed: %v", len(all), err)
		}
	})
}

// A request without an answer for too long expires: its agent learns that, and a
// later answer is refused as too late.
//
//evidence:for limit-ask-age promise-waits
func TestAnAskExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.AnswerLimit = time.Hour })
		defer b.close()
		turn := b.say("u1", "approve")
		time.Sleep(59 * time.Minute)
		expired := func() (request, outcome string) {
			records, err := b.Records(t.Context(), "s", session.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range records {
				if err != nil {
					t.Fatal(err)
				}
				switch p := r.Payload.(type) {
				case trace.PermissionRequest:
					request = p.RequestID
				case trace.PermissionResponse:
					outcome = string(p.Outcome)
				}
			}
			return request, outcome
		}
		if request, outcome := expired(); request == "" || outcome != "" {
			t.Fatalf("a minute before the end of %q its outcome is %q", request, outcome)
		}
		time.Sleep(2 * time.Minute)
		request, outcome := expired()
		if outcome != string(trace.Expired) {
			t.Errorf("after the end of %q its outcome is %q", request, outcome)
		}
		yes := true
		if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err == nil {
			t.Error("an answer that comes too late is taken")
		}
		b.wait(turn)
	})
}

// The messages of the prompts that run or wait weigh something, and each principal has a bound
// on that. A message counts until its agent is free.
//
//evidence:for limit-large-prompts
func TestLargePromptsOfOnePrincipalHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		b := newBench(t, func(o *session.Options) {
			with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, p agent.Prompt, tb *trace.Builder) error {
				<-ctx.Done()
				time.Sleep(2 * time.Second) // the agent is not free at once
				return ctx.Err()
			}})(o)
			o.MaxPromptBytes = 10 * mb
		})
		defer b.close()
		prompt := func(where, message, by string, size int) error {
			t.Helper()
			if _, err := b.Ensure(t.Context(), session.Spec{ID: where, By: by}); err != nil {
				t.Fatal(err)
			}
			p := promptOf(message, by)
			p.Message.Parts[0].Text = strings.Repeat("x", size)
			_, err := b.Prompt(t.Context(), where, p)
			return err
		}
		stop := func(where string) {
			t.Helper()
			if _, done, err := b.StopTurn(t.Context(), where, "", "ada"); err != nil || !done {
				t.Fatal(done, err)
			}
		}
		for i, where := range []string{"one", "one", "two"} { // the second waits
			if err := prompt(where, fmt.Sprint("u", i), "ada", 3*mb); err != nil {
				t.Fatal(err)
			}
		}
		if err := prompt("three", "u3", "ada", 3*mb); !errors.Is(err, session.ErrLargePrompts) {
			t.Errorf("12 MB of 10: %v", err)
		}
		if err := prompt("three", "u4", "ada", 100); err != nil {
			t.Errorf("a small prompt beside 9 MB: %v", err)
		}
		if err := prompt("four", "u5", "bob", 9*mb); err != nil {
			t.Errorf("somebody else's prompt: %v", err)
		}
		stop("two")
		if err := prompt("five", "u6", "ada", 3*mb); !errors.Is(err, session.ErrLargePrompts) {
			t.Errorf("the agent of the stopped turn still has its 3 MB: %v", err)
		}
		time.Sleep(3 * time.Second)
		if err := prompt("five", "u6", "ada", 3*mb); err != nil {
			t.Errorf("there is room again: %v", err)
		}
		stop("one") // its queued prompt runs now, and weighs what it has weighed
		time.Sleep(3 * time.Second)
		if err := prompt("six", "u7", "ada", 3*mb); err != nil {
			t.Errorf("there is room again: %v", err)
		}
		if err := prompt("seven", "u8", "ada", 3*mb); !errors.Is(err, session.ErrLargePrompts) {
			t.Errorf("12 MB of 10 again: %v", err)
		}
	})
}

// So many prompts wait in one session. There is room again when one of them is withdrawn.
func TestPromptsThatWaitInASessionHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.MaxQueue = 2 })
		defer b.close()
		b.say("u0", "slow")
		b.say("u1", "hello")
		waiting := b.say("u2", "hello")
		prompt := func() error {
			_, err := b.Prompt(t.Context(), "s", promptOf("u3", "bob"))
			return err
		}
		if err := prompt(); !errors.Is(err, session.ErrQueueFull) {
			t.Errorf("a third prompt that waits: %v", err)
		}
		if _, done, err := b.StopTurn(t.Context(), "s", waiting.ID, "ada"); !done || err != nil {
			t.Fatal(done, err)
		}
		if err := prompt(); err != nil {
			t.Errorf("a second one: %v", err)
		}
	})
}

// A stream does not read the prompt of its turn from the log, since no stream shows a prompt.
func TestAStreamDoesNotReadThePromptAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn := b.say("u1", "hello")
		b.wait(turn)
		reader := b.Read(turn)
		defer reader.Close()
		kinds := map[trace.Kind]int{}
		for r, err := range reader.Records(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			kinds[r.Payload.Kind()]++
		}
		if kinds[trace.KindPrompt] != 0 || kinds[trace.KindReply] != 1 || kinds[trace.KindStop] != 1 {
			t.Errorf("a stream reads %v", kinds)
		}
	})
}
