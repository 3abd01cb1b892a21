package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// bench is a hub with the demo agent on a log in memory.
type bench struct {
	*session.Hub
	t   *testing.T
	log *eventlog.Log
}

func newBench(t *testing.T, change func(*session.Options)) *bench {
	t.Helper()
	return benchOn(t, eventlog.New(memlog.New()), change)
}

func benchOn(t *testing.T, log *eventlog.Log, change func(*session.Options)) *bench {
	t.Helper()
	o := session.Options{AgentShare: 1 << 20, Log: log, Default: "demo", Agents: map[string]session.Agent{
		"demo": {Runtime: demo.Runtime{Pace: 100 * time.Millisecond}, Cwd: t.TempDir(), Policy: permission.Default()},
	}}
	if change != nil {
		change(&o)
	}
	log.Store = &lockFree{Store: log.Store}
	h, err := session.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Hub: h, t: t, log: log}
	if _, err := h.Ensure(t.Context(), session.Spec{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) close() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		b.t.Error(err)
	}
	if err := b.log.Close(); err != nil {
		b.t.Error(err)
	}
}

func text(id, words string) trace.UserMessage {
	return trace.UserMessage{ID: id, Parts: []trace.InputPart{{Type: trace.InputText, Text: words}}}
}

func (b *bench) say(id, words string) session.Turn {
	b.t.Helper()
	turn, err := b.Prompt(b.t.Context(), "s", session.Prompt{Message: text(id, words), By: "ada"})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// wait follows a turn to its end and returns its records.
func (b *bench) wait(turn session.Turn) []trace.Record {
	b.t.Helper()
	var records []trace.Record
	for r, err := range b.Follow(b.t.Context(), "s", turn.ID, turn.After) {
		if err != nil {
			b.t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func stopOf(t *testing.T, records []trace.Record) trace.Stop {
	t.Helper()
	if len(records) == 0 {
		t.Fatal("no records")
	}
	s, ok := records[len(records)-1].Payload.(trace.Stop)
	if !ok {
		t.Fatalf("last record is %s", records[len(records)-1].Payload.Kind())
	}
	return s
}

func TestPromptRunsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn := b.say("u1", "hello")
		records := b.wait(turn)
		if s := stopOf(t, records); s.Outcome != trace.OutcomeCompleted || s.FinalOutput == "" {
			t.Errorf("stop %+v", s)
		}
		if p, ok := records[0].Payload.(trace.Prompt); !ok || p.By != "ada" {
			t.Errorf("first record %#v", records[0].Payload)
		}
		if r, ok := records[1].Payload.(trace.Reply); !ok || r.MessageID != turn.MessageID {
			t.Errorf("second record %#v", records[1].Payload)
		}
	})
}

// A client that prompts again on seeing the end must never be told that the
// session is busy.
func TestTheFastClientIsNeverBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.Busy = session.Reject })
		defer b.close()
		for range 50 {
			b.wait(b.say("", "hello"))
		}
	})
}

//evidence:for promise-prompt-once
func TestBusyQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first, second, third := b.say("u1", "slow"), b.say("u2", "hello"), b.say("u3", "think")
		for _, turn := range []session.Turn{third, second, first} {
			if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
				t.Errorf("stop %+v", s)
			}
		}
		if ids := b.history(); ids != "u1 A u2 A u3 A" {
			t.Errorf("history %s", ids)
		}
	})
}

// history names the user messages, and writes A for an answer.
func (b *bench) history() string {
	b.t.Helper()
	page, err := b.History(b.t.Context(), "s", "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	turns := map[string][]string{}
	var order []string
	for r, err := range page.Records {
		if err != nil {
			b.t.Fatal(err)
		}
		if _, ok := turns[r.Turn]; !ok {
			order = append(order, r.Turn)
		}
		switch p := r.Payload.(type) {
		case trace.Prompt:
			turns[r.Turn] = append(turns[r.Turn], p.Message.ID)
		case trace.Reply:
			turns[r.Turn] = append(turns[r.Turn], "A")
		default:
			turns[r.Turn] = append(turns[r.Turn], nil...)
		}
	}
	var all []string
	for _, id := range order {
		all = append(all, turns[id]...)
	}
	return strings.Join(all, " ")
}

func TestBusyReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.Busy = session.Reject })
		defer b.close()
		first := b.say("u1", "slow")
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "hello")}); !errors.Is(err, session.ErrBusy) {
			t.Errorf("error %v", err)
		}
		if s := stopOf(t, b.wait(first)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("stop %+v", s)
		}
	})
}

func TestBusyInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.Busy = session.Interrupt })
		defer b.close()
		first := b.say("u1", "slow")
		time.Sleep(time.Second)
		second := b.say("u2", "hello")
		if s := stopOf(t, b.wait(first)); s.Outcome != trace.OutcomeCanceled || s.Reason != "interrupted" {
			t.Errorf("first %+v", s)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("second %+v", s)
		}
	})
}

//evidence:for promise-disconnect
func TestStopIsFencedAndIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first := b.say("u1", "slow")
		time.Sleep(time.Second)
		for i := range 3 {
			id, done, err := b.StopTurn(t.Context(), "s", first.ID, "ada")
			if err != nil || id != first.ID || done != (i == 0) {
				t.Errorf("stop %d: %s %v %v", i, id, done, err)
			}
		}
		if s := stopOf(t, b.wait(first)); s.Outcome != trace.OutcomeCanceled {
			t.Errorf("first %+v", s)
		}
		second := b.say("u2", "slow")
		if _, done, err := b.StopTurn(t.Context(), "s", first.ID, "ada"); done || err != nil {
			t.Errorf("a stop of the first hit the second: %v %v", done, err)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("second %+v", s)
		}
	})
}

//evidence:for promise-disconnect
func TestM06_DisconnectGrace(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    session.OnDisconnect
		lost    func() bool
		after   func(b *bench, turn session.Turn)
		outcome trace.Outcome
		atLeast time.Duration
	}{
		{"nobody comes back", session.Grace, nil, func(*bench, session.Turn) {}, trace.OutcomeCanceled, 5 * time.Second},
		{"somebody comes back", session.Grace, nil, func(b *bench, turn session.Turn) {
			time.Sleep(4 * time.Second)
			b.Attach("s", turn.ID, nil)
		}, trace.OutcomeCompleted, 0},
		{"a request extends it", session.Grace, nil, func(b *bench, _ session.Turn) {
			time.Sleep(4 * time.Second)
			b.Touch("s")
		}, trace.OutcomeCanceled, 9 * time.Second},
		{"stop", session.Stop, nil, func(*bench, session.Turn) {}, trace.OutcomeCanceled, 0},
		{"detach", session.Detach, nil, func(*bench, session.Turn) {}, trace.OutcomeCompleted, 0},
		{"its gateway has ended too", session.Grace, func() bool { return true }, func(*bench, session.Turn) {}, trace.OutcomeCanceled, 65 * time.Second},
		{"its gateway has ended too, and a request comes", session.Grace, func() bool { return true }, func(b *bench, _ session.Turn) {
			time.Sleep(10 * time.Second)
			b.Touch("s")
		}, trace.OutcomeCanceled, 65 * time.Second},
		{"its gateway runs", session.Grace, func() bool { return false }, func(*bench, session.Turn) {}, trace.OutcomeCanceled, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(o *session.Options) { o.OnDisconnect = c.mode })
				defer b.close()
				turn := b.say("u1", "long")
				leave := b.Attach("s", turn.ID, c.lost)
				cut := time.Now()
				leave(true)
				c.after(b, turn)
				s := stopOf(t, b.wait(turn))
				if s.Outcome != c.outcome || s.Outcome == trace.OutcomeCanceled && s.Reason != "disconnected" {
					t.Errorf("stop %+v", s)
				}
				if took := time.Since(cut); took < c.atLeast || c.outcome == trace.OutcomeCanceled && took > c.atLeast+time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestAPromptOfTheSameUserEndsATurnInItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first := b.say("u1", "slow")
		b.Attach("s", first.ID, nil)(true)
		time.Sleep(time.Second)
		second := b.say("u2", "hello")
		if s := stopOf(t, b.wait(first)); s.Reason != "disconnected" {
			t.Errorf("first %+v", s)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("second %+v", s)
		}
	})
}

//evidence:for promise-prompt-once
func TestAQueuedPromptThatNobodyAwaitsStaysInHistoryAsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first, second := b.say("u1", "slow"), b.say("u2", "hello")
		b.Attach("s", second.ID, nil)(true)
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCanceled || s.Reason != "not_run" || s.Error == "" {
			t.Errorf("second %+v", s)
		}
		b.wait(first)
		if ids := b.history(); ids != "u1 A u2" {
			t.Errorf("history %s", ids)
		}
	})
}

func TestPermissionFirstAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn := b.say("u1", "approve")
		synctest.Wait()
		time.Sleep(20 * time.Second) // silence is no idleness while an answer is awaited
		var request string
		for r, err := range b.log.After(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := r.Payload.(trace.PermissionRequest); ok {
				request = p.RequestID
			}
		}
		if request == "" {
			t.Fatal("no request on record")
		}
		yes := true
		if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err != nil {
			t.Fatal(err)
		}
		var answered *session.AnsweredError
		if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "bob"}, session.Choice{Approved: &yes}); !errors.As(err, &answered) || answered.By != "ada" {
			t.Errorf("second answer: %v", err)
		}
		if _, err := b.Permit(t.Context(), "s", "nonsense", session.Sender{By: "bob"}, session.Choice{Approved: &yes}); !errors.Is(err, session.ErrUnknownRequest) {
			t.Errorf("unknown request: %v", err)
		}
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("stop %+v", s)
		}
	})
}

func TestRegenerateAndEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		second := b.say("u2", "think")
		b.wait(second)
		again, err := b.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, Of: second.MessageID, By: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(again)
		if ids := b.history(); ids != "u1 A u2 A" || again.MessageID == second.MessageID {
			t.Errorf("after regenerate: %s", ids)
		}
		b.wait(b.say("u1", "slow")) // an edit: the id is known
		if ids := b.history(); ids != "u1 A" {
			t.Errorf("after edit: %s", ids)
		}
		b.wait(b.say("u9", "hello"))
		if ids := b.history(); ids != "u1 A u9 A" {
			t.Errorf("a new id appends: %s", ids)
		}
	})
}

func TestResumable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		check := func(when, want string) {
			t.Helper()
			got, ok, err := b.Resumable(t.Context(), "s", "")
			if err != nil || ok != (want != "") || ok && got.ID != want {
				t.Errorf("%s: %v %v %v, want %q", when, got.ID, ok, err, want)
			}
		}
		check("before anything", "")
		first := b.say("u1", "slow")
		check("running", first.ID)
		b.wait(first)
		time.Sleep(50 * time.Second)
		check("50 s after", first.ID)
		time.Sleep(20 * time.Second)
		check("70 s after", "")
		second := b.say("u2", "slow")
		leave := b.Attach("s", second.ID, nil)
		b.wait(second)
		leave(true)
		time.Sleep(time.Hour)
		check("a stream of it was cut", second.ID)
		b.wait(b.say("u3", "hello"))
		time.Sleep(time.Hour)
		check("another turn has run", "")
	})
}

func TestRestartClosesWhatWasOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlog.New()
		b := benchOn(t, eventlog.New(store), nil)
		turn, queued := b.say("u1", "slow"), b.say("u2", "hello")
		time.Sleep(2 * time.Second)
		var seen string
		for r, err := range b.log.After(t.Context(), "s", turn.After) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := r.Payload.(trace.MessageDelta); ok {
				seen += d.Delta
			}
		}
		// A second hub on the same store is what a new process sees: the first
		// one never wrote a stop.
		next := benchOn(t, eventlog.New(store), nil)
		records := next.wait(turn)
		for _, r := range records {
			line, _ := r.AppendJSON(nil)
			t.Log(string(line))
		}
		s := stopOf(t, records)
		if s.Outcome != trace.OutcomeFailed || s.Reason != "restart" || !strings.HasPrefix(s.FinalOutput, strings.TrimSpace(seen)) || seen == "" {
			t.Errorf("stop %+v after %q", s, seen)
		}
		if all, err := next.Queue(t.Context(), "s"); err != nil || len(all) != 1 || all[0].Turn != queued.ID || !all[0].Held {
			t.Errorf("the queue is %+v, %v", all, err)
		}
		if got, ok, err := next.Resumable(t.Context(), "s", ""); !ok || err != nil || got.ID != turn.ID {
			t.Errorf("resumable %+v %v %v", got, ok, err)
		}
		if s := stopOf(t, next.wait(next.say("u3", "hello"))); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("next prompt %+v", s)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = next.Close(ctx)
		b.close()
	})
}

//evidence:for limit-agents
func TestMaxAgentsClosesTheIdlest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.MaxAgents = 2 })
		defer b.close()
		for _, id := range []string{"a", "b", "c", "a", "c", "b"} {
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
			turn, err := b.Prompt(t.Context(), id, session.Prompt{Message: text("", "hello")})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range b.Follow(t.Context(), id, turn.ID, turn.After) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.say("u1", "slow")
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Get(t.Context(), "s"); !errors.Is(err, session.ErrUnknownSession) {
			t.Errorf("get: %v", err)
		}
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		if ids := b.history(); ids != "" {
			t.Errorf("history of the new one: %s", ids)
		}
	})
}
