package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// An edit removes the prompts after the message, also a prompt that is only just
// being put on record.
func TestAnEditTakesBackAPromptOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		gate := make(chan struct{})
		bad.on(func(_ string, events []trace.Event) error {
			if p, ok := events[0].Payload.(trace.Prompt); ok && p.Message.ID == "u2" {
				<-gate
			}
			return nil
		})
		coming := make(chan session.Turn)
		go func() {
			turn, _ := b.Prompt(context.Background(), "s", session.Prompt{Message: text("u2", "hello"), By: "ada"})
			coming <- turn
		}()
		synctest.Wait()
		edited := make(chan session.Turn)
		go func() {
			turn, _ := b.Prompt(context.Background(), "s", session.Prompt{Message: text("u1", "think"), By: "ada"})
			edited <- turn
		}()
		synctest.Wait()
		close(gate)
		if s := stopOf(t, b.wait(<-coming)); s.Outcome != trace.OutcomeCanceled || s.Reason != "superseded" {
			t.Errorf("the prompt on its way ended as %+v", s)
		}
		if s := stopOf(t, b.wait(<-edited)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the edit ended as %+v", s)
		}
		if ids := b.history(); ids != "u1 A" {
			t.Errorf("history %s", ids)
		}
	})
}

// undeletable is a store whose records cannot be deleted, for a while.
type undeletable struct {
	eventlog.Store
	err error
}

func (u *undeletable) Delete(ctx context.Context, session string) error {
	if u.err != nil {
		return u.err
	}
	return u.Store.Delete(ctx, session)
}

// A deletion that fails half way can be tried again: no records are left behind
// for the next session of that id.
func TestADeletionThatFailsCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &undeletable{memlog.New(), errDisk}
		b := benchOn(t, eventlog.New(store), nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		if _, err := b.Delete(t.Context(), "s"); !errors.Is(err, errDisk) {
			t.Errorf("error %v", err)
		}
		if _, err := b.log.Get(t.Context(), "s"); err != nil {
			t.Errorf("the document went first: %v", err)
		}
		store.err = nil
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Error(err)
		}
		if last, err := lastOf(b.log.After(t.Context(), "s", 0)); last.Payload != nil || err != nil {
			t.Errorf("left: %+v %v", last.Payload, err)
		}
	})
}

// slowGet is a store that answers for a document late.
type slowGet struct {
	eventlog.Store
	gate chan struct{}
}

func (s *slowGet) Get(ctx context.Context, session string) ([]byte, error) {
	doc, err := s.Store.Get(ctx, session)
	if s.gate != nil {
		<-s.gate
	}
	return doc, err
}

// A reader that got a session's document before the deletion does not bring the
// session back.
func TestADeletedSessionIsNotBroughtBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowGet{Store: memlog.New()}
		log := eventlog.New(store)
		b := benchOn(t, log, nil)
		defer b.close()
		next := benchOn(t, log, nil) // "s" is in memory here, "old" is not
		defer func() { _ = next.Close(t.Context()) }()
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "old"}); err != nil {
			t.Fatal(err)
		}
		store.gate = make(chan struct{})
		first := make(chan error)
		go func() {
			_, err := next.Prompt(context.Background(), "old", session.Prompt{Message: text("u1", "hello")})
			first <- err
		}()
		synctest.Wait()
		gate := store.gate
		store.gate = nil
		if _, err := next.Delete(t.Context(), "old"); err != nil {
			t.Fatal(err)
		}
		close(gate)
		if err := <-first; !errors.Is(err, session.ErrUnknownSession) {
			t.Errorf("error %v", err)
		}
		if _, err := log.Get(t.Context(), "old"); !errors.Is(err, eventlog.ErrNoSession) {
			t.Errorf("the document is back: %v", err)
		}
	})
}
