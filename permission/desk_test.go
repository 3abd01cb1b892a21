package permission_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/trace"
)

func selected(by, option string) trace.PermissionResponse {
	return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option, By: by}
}

// Exactly one of many concurrent answers wins, and every result and record is the
// winner's.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	const answerers, rounds = 8, 1000
	desk := permission.NewRequests(nil)
	for round := range rounds {
		id := fmt.Sprint("r", round)
		var recorded []trace.PermissionResponse
		if err := desk.Open("turn", id, func(r trace.PermissionResponse) bool { recorded = append(recorded, r); return true }); err != nil {
			t.Fatal(err)
		}
		var (
			wg     sync.WaitGroup
			wins   atomic.Int32
			winner atomic.Value
			losses [answerers]*permission.AnsweredError
			start  = make(chan struct{})
			waited trace.PermissionResponse
		)
		wg.Go(func() { waited, _ = desk.Wait(t.Context(), id) })
		for n := range answerers {
			wg.Go(func() {
				<-start
				by := fmt.Sprint("user", n)
				err := desk.Answer(id, selected(by, "2"))
				if err == nil {
					wins.Add(1)
					winner.Store(by)
					return
				}
				if !errors.As(err, &losses[n]) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		close(start)
		wg.Wait()
		if wins.Load() != 1 {
			t.Fatalf("round %d has %d winners", round, wins.Load())
		}
		by, _ := winner.Load().(string)
		if waited.By != by || len(recorded) != 1 || recorded[0].By != by {
			t.Fatalf("round %d: %s won, the waiter got %q, on record is %+v", round, by, waited.By, recorded)
		}
		for n, lost := range losses {
			if lost != nil && (lost.By != by || lost.Outcome != trace.Selected || lost.At.IsZero()) {
				t.Fatalf("round %d: user%d was told %+v, the winner is %s", round, n, lost, by)
			}
		}
	}
}

// An answer and the end of the turn at the same time: all sides agree on one.
func TestAnswerRacesWithWithdrawal(t *testing.T) {
	t.Parallel()
	desk := permission.NewQuestions(nil)
	for round := range 1000 {
		id := fmt.Sprint("q", round)
		var recorded []trace.Answer
		if err := desk.Open("turn", id, func(a trace.Answer) bool { recorded = append(recorded, a); return true }); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var waited trace.Answer
		var err error
		wg.Go(func() { waited, _ = desk.Wait(ctx, id) })
		wg.Go(func() {
			err = desk.Answer(id, trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ann"})
		})
		cancel()
		wg.Wait()
		want := trace.Selected
		if err != nil {
			want = trace.Canceled
		}
		if waited.Outcome != want || len(recorded) != 1 || recorded[0].Outcome != want {
			t.Fatalf("round %d: Answer says %v, Wait %+v, the record %+v", round, err, waited, recorded)
		}
	}
}

func TestAnsweredBeforeWaited(t *testing.T) {
	t.Parallel()
	desk := permission.NewRequests(nil)
	if err := desk.Open("turn", "r", nil); err != nil {
		t.Fatal(err)
	}
	if err := desk.Answer("r", selected("ann", "2")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what is answered stays answered
	got, err := desk.Wait(ctx, "r")
	if err != nil || got.ChosenOption != "2" {
		t.Errorf("Wait returned %+v, %v", got, err)
	}
}

func TestWithdrawnWhenContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := permission.NewRequests(time.Now)
		if err := desk.Open("turn", "r", nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		got, err := desk.Wait(ctx, "r")
		if err != nil || got.Outcome != trace.Canceled || got.RequestID != "r" {
			t.Errorf("Wait returned %+v, %v", got, err)
		}
		var late *permission.AnsweredError
		time.Sleep(time.Hour)
		if err := desk.Answer("r", selected("ann", "2")); !errors.As(err, &late) {
			t.Fatalf("a late answer got %v", err)
		}
		if late.Outcome != trace.Canceled || late.At.Sub(begun) != time.Minute || !strings.Contains(late.Error(), "withdrawn") {
			t.Errorf("a late answer was told %+v: %v", late, late)
		}
	})
}

// A waiting caller learns of no answer that is not on record.
func TestRecordedBeforeTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk := permission.NewRequests(nil)
		var recorded atomic.Bool
		slow := func(trace.PermissionResponse) bool {
			time.Sleep(time.Second)
			recorded.Store(true)
			return true
		}
		if err := desk.Open("turn", "r", slow); err != nil {
			t.Fatal(err)
		}
		go func() {
			if err := desk.Answer("r", selected("ann", "2")); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		var late *permission.AnsweredError
		if err := desk.Answer("r", selected("bob", "4")); !errors.As(err, &late) || late.By != "ann" {
			t.Errorf("the second answer got %v before the first was on record", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, _ := desk.Wait(ctx, "r"); got.By != "ann" || !recorded.Load() {
			t.Errorf("Wait returned %+v, on record: %v", got, recorded.Load())
		}
	})
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	desk := permission.NewRequests(nil)
	if err := desk.Open("turn", "r", func(r trace.PermissionResponse) bool { t.Errorf("%+v was recorded again", r); return true }); err != nil {
		t.Fatal(err)
	}
	if err := desk.Recorded("r", selected(permission.By, "2")); err != nil {
		t.Fatal(err)
	}
	if got, err := desk.Wait(t.Context(), "r"); err != nil || got.By != permission.By {
		t.Errorf("Wait returned %+v, %v", got, err)
	}
	var late *permission.AnsweredError
	if err := desk.Answer("r", selected("ann", "4")); !errors.As(err, &late) || late.By != permission.By {
		t.Errorf("a second answer got %v", err)
	}
	if err := desk.Recorded("x", selected("ann", "4")); !errors.Is(err, permission.ErrUnknown) {
		t.Errorf("an unknown request got %v", err)
	}
}

func TestPendingAndForget(t *testing.T) {
	t.Parallel()
	desk := permission.NewQuestions(nil)
	var ends []trace.PermissionOutcome
	for _, id := range []string{"a", "b", "c"} {
		if err := desk.Open("t1", id, func(a trace.Answer) bool { ends = append(ends, a.Outcome); return true }); err != nil {
			t.Fatal(err)
		}
	}
	if err := desk.Open("t2", "a", nil); err == nil {
		t.Error("an id could be used twice")
	}
	if err := desk.Open("t2", "d", nil); err != nil {
		t.Error(err)
	}
	if err := desk.Answer("b", trace.Answer{Outcome: trace.Selected}); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(desk.Pending("t1"), desk.Pending("t2"), desk.Pending("t3")); got != "[a c] [d] []" {
		t.Errorf("pending are %s", got)
	}
	desk.Forget("t1")
	if got := fmt.Sprint(ends); got != "[selected canceled canceled]" {
		t.Errorf("on record are %s", got)
	}
	if err := desk.Answer("b", trace.Answer{}); !errors.Is(err, permission.ErrUnknown) {
		t.Errorf("an answer to a forgotten turn got %v", err)
	}
	if _, err := desk.Wait(t.Context(), "a"); !errors.Is(err, permission.ErrUnknown) {
		t.Errorf("Wait for a forgotten question got %v", err)
	}
	if err := desk.Answer("d", trace.Answer{Outcome: trace.Selected}); err != nil {
		t.Errorf("the other turn was forgotten too: %v", err)
	}
	if err := desk.Open("t3", "a", nil); err != nil {
		t.Errorf("a forgotten id cannot be used: %v", err)
	}
}

func TestAnsweredError(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		err  permission.AnsweredError
		want string
	}{
		{permission.AnsweredError{By: "ann", At: at, Outcome: trace.Selected}, "this was answered by ann at 2026-01-02T03:04:05Z"},
		{permission.AnsweredError{At: at, Outcome: trace.Selected}, "this was answered at 2026-01-02T03:04:05Z"},
		{permission.AnsweredError{At: at, Outcome: trace.Canceled}, "this was withdrawn at 2026-01-02T03:04:05Z"},
		{permission.AnsweredError{At: at, Outcome: trace.Expired}, "this expired at 2026-01-02T03:04:05Z"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%+v says %q, want %q", c.err, got, c.want)
		}
	}
}

func TestAwaitRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := permission.NewRequests(nil)
		gate := make(chan struct{})
		if err := d.Open("t", "1", func(trace.PermissionResponse) bool { <-gate; return true }); err != nil {
			t.Fatal(err)
		}
		d.AwaitRecord("1") // nobody has answered
		d.AwaitRecord("unknown")
		go func() { _ = d.Answer("1", trace.PermissionResponse{}) }()
		synctest.Wait()
		waited := make(chan struct{})
		go func() {
			d.AwaitRecord("1")
			close(waited)
		}()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("the answer is not on record yet")
		default:
		}
		close(gate)
		<-waited
	})
}

// An answer that its turn no longer takes does not count: the person who gave it
// learns that, and so does the agent.
func TestAnAnswerThatIsTooLate(t *testing.T) {
	desk := permission.NewRequests(nil)
	if err := desk.Open("t", "1", func(trace.PermissionResponse) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var answered *permission.AnsweredError
		if err := desk.Answer("1", trace.PermissionResponse{Outcome: trace.Selected, By: "ada"}); !errors.As(err, &answered) || answered.Outcome != trace.Canceled || answered.By != "" {
			t.Errorf("the answer gets %v", err)
		}
	}
	if r, err := desk.Wait(t.Context(), "1"); err != nil || r.Outcome != trace.Canceled {
		t.Errorf("who waits gets %+v %v", r, err)
	}
}
