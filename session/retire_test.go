package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Every reload makes or reads a session. Those that nobody uses cost nothing
// after a while, and are as they were when somebody comes back.
//
//evidence:for promise-nothing-left
func TestSessionsThatRestAreLetGoOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		first := b.say("u1", "hello")
		b.wait(first)
		leave := b.Attach("s", first.ID, nil)
		for i := range 200 {
			if _, err := b.Ensure(t.Context(), session.Spec{ID: fmt.Sprint("r", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.OpenDirs(); n != 1 {
			t.Errorf("%d directories are open", n)
		}
		time.Sleep(time.Hour)
		if n := b.InMemory(); n != 1 {
			t.Errorf("%d sessions in memory, one of which somebody holds", n)
		}
		leave(true)
		time.Sleep(time.Hour)
		if n, dirs := b.InMemory(), b.OpenDirs(); n != 0 || dirs != 0 {
			t.Errorf("%d sessions in memory, %d directories", n, dirs)
		}
		if got, ok, err := b.Resumable(t.Context(), "s", ""); err != nil || !ok || got.ID != first.ID {
			t.Errorf("the stream that was cut: %+v %v %v", got, ok, err)
		}
		if _, err := b.Delete(t.Context(), "r7"); err != nil {
			t.Error(err)
		}
		if _, err := b.Get(t.Context(), "r7"); !errors.Is(err, session.ErrUnknownSession) {
			t.Errorf("after deletion: %v", err)
		}
		if s := stopOf(t, b.wait(b.say("u2", "hello"))); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("stop %+v", s)
		}
		if ids := b.history(); ids != "u1 A u2 A" {
			t.Errorf("history %s", ids)
		}
	})
}

// A session stays while a turn waits for an answer, and while a subscriber follows the
// records.
func TestSessionsInUseAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.say("u1", "approve")
		for _, id := range []string{"followed", "gone"} {
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		records, err := b.Records(ctx, "followed", session.Filter{Live: true})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = lastOf(records)
		}()
		time.Sleep(time.Hour)
		if n := b.InMemory(); n != 2 {
			t.Errorf("%d sessions in memory", n)
		}
		cancel()
		<-done
		time.Sleep(time.Hour)
		if n := b.InMemory(); n != 1 {
			t.Errorf("%d sessions in memory when nobody follows", n)
		}
	})
}

// Agents that are slow to end are ended side by side.
func TestCloseEndsAgentsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{
			prompt: func(context.Context, agent.Host, agent.Prompt, *trace.Builder) error { return nil },
			closed: func() { time.Sleep(5 * time.Second) },
		}))
		for i := range 10 {
			id := fmt.Sprint("s", i)
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Prompt(t.Context(), id, session.Prompt{Message: text("u1", "x")}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		b.close()
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
