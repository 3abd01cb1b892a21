package trace_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// slowLog takes a second for every batch and notes its size.
type slowLog struct {
	tape
	batches  []int
	inFlight atomic.Int32
	fail     error
	failAt   int // which batch, counted from 1
}

func (l *slowLog) append(ctx context.Context, events []trace.Event) error {
	if l.inFlight.Add(1) != 1 {
		return errors.New("two appends at a time")
	}
	defer l.inFlight.Add(-1)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	l.batches = append(l.batches, len(events))
	if len(l.batches) == l.failAt {
		return l.fail
	}
	return l.tape.append(ctx, events)
}

const megabyte = 1 << 20

func TestOneAppendInFlightAndTheRestGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		began := time.Now()
		b.Emit(trace.Error{Message: "1"})
		synctest.Wait() // it is in flight
		for range 10 {
			b.Emit(trace.Error{Message: "2"})
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("calls took %s", d)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("Finish returned after %s", d)
		}
		if len(l.batches) != 2 || l.batches[0] != 1 || l.batches[1] != 11 {
			t.Errorf("batches %v", l.batches)
		}
		if err := check(l.events); err != nil {
			t.Error(err)
		}
	})
}

func TestACallBlocksWhenTooMuchWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		b.Emit(trace.Error{Message: "first"})
		synctest.Wait()
		for range 4 {
			b.MessageDelta("k", strings.Repeat("x", megabyte))
		}
		blocked := time.Now()
		b.MessageDelta("k", "!")
		if d := time.Since(blocked); d != time.Second {
			t.Errorf("the call took %s, not until the append was over", d)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if err := check(l.events); err != nil {
			t.Error(err)
		}
	})
}

func TestFinishGetsInWhileCallersWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		b.Emit(trace.Error{Message: "first"})
		synctest.Wait()
		for range 4 {
			b.MessageDelta("k", strings.Repeat("x", megabyte))
		}
		var wg sync.WaitGroup
		began := time.Now()
		for range 3 {
			wg.Go(func() {
				b.MessageDelta("k", "late")
				if !time.Now().Equal(began) {
					t.Errorf("a caller was held up for %s after the turn was over", time.Since(began))
				}
			})
		}
		wg.Go(func() {
			if id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: "r"}, trace.ToolCall{}); id != "" || !decided || answer.Allowed() {
				t.Errorf("a request after the turn: %q, %+v, %v", id, answer, decided)
			}
		})
		synctest.Wait()
		var finished [2]time.Duration
		for i := range finished {
			wg.Go(func() {
				if err := b.Finish(trace.Stop{Reason: "stopped"}); err != nil {
					t.Error(err)
				}
				finished[i] = time.Since(began)
			})
		}
		wg.Wait()
		if finished[0] != 2*time.Second || finished[1] != finished[0] {
			t.Errorf("Finish returned after %s", finished)
		}
		if n := b.Counts().Late; n != 4 {
			t.Errorf("%d late calls, want 4", n)
		}
		if err := check(l.events); err != nil {
			t.Error(err)
		}
	})
}

func TestAFailedAppendPoisonsAndUnblocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the disk is full")
		l := &slowLog{fail: broken, failAt: 2}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		b.Emit(trace.Error{Message: "first"})
		synctest.Wait()
		for range 5 {
			b.MessageDelta("k", strings.Repeat("x", megabyte))
		}
		synctest.Wait() // now the batch that will fail is in flight
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 3 {
					b.MessageDelta("k", strings.Repeat("y", megabyte))
				}
			})
		}
		wg.Wait() // nobody stays blocked
		select {
		case <-b.Failed():
		default:
			t.Error("Failed is not closed")
		}
		b.End(trace.Stop{Reason: "x"})
		select {
		case <-b.Ended():
		default:
			t.Error("Ended is not closed")
		}
		for range 2 {
			if err := b.Finish(trace.Stop{}); !errors.Is(err, broken) {
				t.Errorf("Finish returned %v", err)
			}
		}
		if len(l.batches) != 2 || len(l.events) != 1 {
			t.Errorf("batches %v, %d events on record", l.batches, len(l.events))
		}
	})
}

func TestADeadLogEndsAnAppend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := trace.NewBuilder(ctx, trace.Config{Turn: "t", Append: func(ctx context.Context, _ []trace.Event) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		b.MessageDelta("k", "x")
		time.AfterFunc(time.Minute, cancel)
		if err := b.Finish(trace.Stop{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Finish returned %v", err)
		}
	})
}

func TestCallsAfterFinishAreCountedAndDoNothing(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.Message("k", "x")
	if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	n := len(log.events)
	for _, p := range examples() {
		b.Emit(p)
		b.Under("c").Emit(p)
	}
	b.Touch()
	b.Emit(nil)
	if id := b.Question(trace.Question{}); id != "" {
		t.Errorf("a question has the id %q", id)
	}
	if b.PermissionResponse(trace.PermissionResponse{}) || b.Answer(trace.Answer{}) {
		t.Error("an answer was accepted")
	}
	if err := b.Finish(trace.Stop{Reason: "again"}); err != nil {
		t.Error(err)
	}
	if len(log.events) != n {
		t.Errorf("%+v was written after the stop", log.events[n:])
	}
	const silent = 3 // message.start, thought.start and pause are never written by themselves
	if got, want := b.Counts().Late, 2*(len(examples())-silent)+4; got != want {
		t.Errorf("%d late calls, want %d", got, want)
	}
	if _, ended := b.Result(); ended {
		t.Error("a late verdict counts")
	}
}

// Many at once, under the race detector, with every kind of view.
func TestManySpeakersAtOnce(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	var wg sync.WaitGroup
	for _, call := range []string{"", "c", "d", "unknown"} {
		for range 2 {
			wg.Go(func() {
				v := b.Under(call)
				for range 200 {
					v.MessageDelta("k", "x")
					v.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Task"})
					v.Emit(trace.ToolResult{ToolCallID: "d"})
					if id, _, decided := v.PermissionRequest(trace.PermissionRequest{ToolCallID: "c"}, trace.ToolCall{}); !decided {
						v.PermissionResponse(trace.PermissionResponse{RequestID: id, By: "ann"})
					}
					v.StepStart(trace.Step{Name: "s"})
					_, _, _ = v.Activity(), v.Counts(), v.Turn()
					v.MessageEnd("k")
				}
			})
		}
	}
	wg.Wait()
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := check(log.events); err != nil {
		t.Error(err)
	}
}

// Flush does not wait for later writes of the agent: an answer gets its response
// while the agent speaks without a pause.
func TestFlushDoesNotWaitForLaterEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		b.Emit(trace.Error{Message: "first"})
		synctest.Wait() // it is in flight
		b.Emit(trace.Error{Message: "second"})
		spoken := make(chan struct{})
		go func() {
			defer close(spoken)
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				b.Emit(trace.Error{Message: "more"})
			}
		}()
		began := time.Now()
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("Flush took %s: two appends take two seconds", d)
		}
		<-spoken
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
	})
}
