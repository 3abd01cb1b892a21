package trace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

func allowed(id, by string) trace.PermissionResponse {
	return trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, OptionKind: trace.AllowOnce, By: by}
}

//evidence:for promise-one-answer
func TestTheFirstAnswerToARequestCounts(t *testing.T) {
	t.Parallel()
	const answerers = 8
	b, l := newTurn()
	for round := range 200 {
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: fmt.Sprint("r", round)}, trace.ToolCall{})
		var (
			wg     sync.WaitGroup
			wins   atomic.Int32
			winner atomic.Value
			losses [answerers]*trace.AnsweredError
			waited trace.Payload
		)
		wg.Go(func() { waited = b.Wait(t.Context(), id) })
		for n := range answerers {
			wg.Go(func() {
				by := fmt.Sprint("user", n)
				if err := b.Resolve(allowed(id, by), nil); err == nil {
					wins.Add(1)
					winner.Store(by)
				} else if !errors.As(err, &losses[n]) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
		by, _ := winner.Load().(string)
		if got, is := waited.(trace.PermissionResponse); wins.Load() != 1 || !is || got.By != by {
			t.Fatalf("round %d: %d answers won, the last of %q, and the agent got %+v", round, wins.Load(), by, waited)
		}
		for n, lost := range losses {
			if lost != nil && (lost.By != by || lost.Outcome != trace.Selected || lost.At.IsZero()) {
				t.Fatalf("round %d: user%d got %+v, the winner is %s", round, n, lost, by)
			}
		}
	}
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(l.events); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerAndAWithdrawalAgree(t *testing.T) {
	t.Parallel()
	b, _ := newTurn()
	for round := range 500 {
		id := b.Question(trace.Question{QuestionID: fmt.Sprint("q", round)})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var waited trace.Payload
		var err error
		wg.Go(func() { waited = b.Wait(ctx, id) })
		wg.Go(func() {
			err = b.Resolve(trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{"red"}, By: "ann"}, nil)
		})
		cancel()
		wg.Wait()
		want := trace.Selected
		if err != nil {
			want = trace.Canceled
		}
		r, _ := b.Request(id)
		recorded, _ := r.Answer.(trace.Answer)
		if got, _ := waited.(trace.Answer); got.Outcome != want || recorded.Outcome != want {
			t.Fatalf("round %d: Resolve says %v, Wait %+v, the record %+v", round, err, waited, recorded)
		}
	}
}

//evidence:for promise-one-answer
func TestAnAgentGetsAnAnswerWhenItIsOnRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var l tape
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: func(ctx context.Context, events []trace.Event) error {
			<-gate
			return l.append(ctx, events)
		}})
		id := b.Question(trace.Question{QuestionID: "q"})
		var answer trace.Payload
		waited := make(chan struct{})
		go func() { answer = b.Wait(t.Context(), id); close(waited) }()
		resolved := make(chan error, 1)
		go func() {
			resolved <- b.Resolve(trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{"x"}, By: "ann"}, nil)
		}()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("the agent got an answer that is not on record")
		case <-resolved:
			t.Error("Resolve returned before the answer was on record")
		default:
		}
		close(gate)
		<-waited
		if got, is := answer.(trace.Answer); !is || got.By != "ann" || <-resolved != nil {
			t.Errorf("the agent got %+v", answer)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnAnswerThatTheLogDoesNotTakeIsAWithdrawal(t *testing.T) {
	t.Parallel()
	full := errors.New("no space")
	b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: func(context.Context, []trace.Event) error { return full }})
	id := b.Question(trace.Question{QuestionID: "q"})
	var first *trace.AnsweredError
	if err := b.Resolve(trace.Answer{QuestionID: id, Outcome: trace.Selected, By: "ann"}, nil); !errors.As(err, &first) || first.Outcome != trace.Canceled {
		t.Errorf("the answer: %v", err)
	}
	if a, _ := b.Wait(t.Context(), id).(trace.Answer); a.Outcome != trace.Canceled {
		t.Errorf("the agent got %+v", a)
	}
	if err := b.Finish(trace.Stop{}); !errors.Is(err, full) {
		t.Error(err)
	}
}

func TestTheOwnerOfATurnKnowsAnAnswerBeforeTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l tape
		var b *trace.Builder
		var steps []string
		b = trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append, RequestsChanged: func(answered []trace.Request) {
			time.Sleep(time.Second) // the agent would be quicker
			for _, r := range answered {
				steps = append(steps, fmt.Sprintf("%s answered, %d wait", r.ID, len(b.Requests())))
			}
			if len(answered) == 0 {
				steps = append(steps, fmt.Sprintf("%d wait, %d shown", len(b.Requests()), len(b.Asked())))
			}
		}})
		id := b.Question(trace.Question{QuestionID: "q"})
		go func() { b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Selected, By: "ann"}) }()
		b.Wait(t.Context(), id)
		if len(steps) != 2 || steps[0] != "1 wait, 1 shown" || steps[1] != "q answered, 0 wait" {
			t.Errorf("the owner saw %q", steps)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTheOwnerOfATurnKnowsOfARequestBeforeItIsOnRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b *trace.Builder
		var steps []string
		var known string
		write := func(_ context.Context, events []trace.Event) error {
			for _, e := range events {
				steps = append(steps, string(e.Payload.Kind())+" while the owner knows of "+known)
			}
			return nil
		}
		b = trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: write, RequestsChanged: func([]trace.Request) {
			time.Sleep(time.Second) // the log would be quicker
			known = fmt.Sprint(b.Asked())
		}})
		id := b.Question(trace.Question{QuestionID: "q"})
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Selected, By: "ann"})
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"step while the owner knows of [q]", "question while the owner knows of [q]", "pause while the owner knows of [q]", "step while the owner knows of [q]",
			"answer while the owner knows of []",
		}
		if d := cmp.Diff(want, steps); d != "" {
			t.Error(d)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestALateAnswerLearnsOfTheEarlierOne(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, e := range map[string]trace.AnsweredError{
		"this was answered by ann at 2026-01-02T03:04:05Z": {By: "ann", At: at, Outcome: trace.Selected},
		"this was answered at 2026-01-02T03:04:05Z":        {At: at, Outcome: trace.Selected},
		"this was withdrawn at 2026-01-02T03:04:05Z":       {At: at, Outcome: trace.Canceled},
		"this expired at 2026-01-02T03:04:05Z":             {At: at, Outcome: trace.Expired},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%+v: %s", e, got)
		}
	}
}
