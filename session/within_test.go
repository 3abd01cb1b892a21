package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// hanging is a store on a disk that takes no write from some moment on.
type hanging struct {
	eventlog.Store
	hangs *bool
	free  chan struct{}
}

func (s hanging) wait() {
	if *s.hangs {
		<-s.free
	}
}

func (s hanging) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	s.wait()
	return s.Store.Append(ctx, id, turn, events)
}

func (s hanging) Delete(ctx context.Context, id string) error {
	s.wait()
	return s.Store.Delete(ctx, id)
}

func (s hanging) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	s.wait()
	return s.Store.AppendWith(ctx, e, turn, events)
}

func TestNothingWaitsForEverForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs, free := false, make(chan struct{})
		asked := make(chan string, 1)
		b := benchOn(t, eventlog.New(hanging{memlog.New(), &hangs, free}), with(t, remote{asked: asked, waited: make(chan []string, 1)}))
		for _, id := range []string{"other", "third", "fourth", "scored"} {
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		ended, err := b.Prompt(t.Context(), "scored", promptOf("u0", "ada"))
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		if _, _, err := b.StopTurn(t.Context(), "scored", "", "ada"); err != nil {
			t.Fatal(err)
		}
		b.say("u1", "x")
		request := <-asked
		synctest.Wait()
		hangs = true
		yes := true
		for _, c := range []struct {
			what string
			do   func(context.Context) error
		}{
			{"an answer", func(ctx context.Context) error {
				_, err := b.Permit(ctx, "s", request, session.Sender{By: "ada"}, session.Choice{Approved: &yes})
				return err
			}},
			{"a stop", func(ctx context.Context) error { _, _, err := b.StopTurn(ctx, "s", "", "ada"); return err }},
			{"a prompt", func(ctx context.Context) error { _, err := b.Prompt(ctx, "other", promptOf("u2", "bob")); return err }},
			{"a new title", func(ctx context.Context) error {
				title := "Another"
				_, err := b.Change(ctx, "third", session.Change{Title: &title})
				return err
			}},
			{"a member", func(ctx context.Context) error { _, err := b.SetMember(ctx, "third", "eve", "viewer"); return err }},
			{"a new session", func(ctx context.Context) error { _, err := b.Create(ctx, session.Spec{ID: "new"}); return err }},
			{"a score", func(ctx context.Context) error {
				return b.Score(ctx, "scored", []trace.Score{{Name: "g", Turn: ended.ID, Verdict: "pass"}})
			}},
			{"a deletion", func(ctx context.Context) error { _, err := b.Delete(ctx, "fourth"); return err }},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			began := time.Now()
			if err := c.do(ctx); !errors.Is(err, session.ErrLog) {
				t.Errorf("%s: %v", c.what, err)
			}
			if took := time.Since(began); took > time.Minute+10*time.Second {
				t.Errorf("%s waits for %s", c.what, took)
			}
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := b.Close(ctx); !errors.Is(err, session.ErrLog) {
			t.Errorf("the end: %v", err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the end takes %s", took)
		}
		close(free) // the disk works again
		synctest.Wait()
	})
}
