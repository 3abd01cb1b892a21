package session_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// heldBack is a store that keeps each document with a title back until the gate of the title is
// closed.
type heldBack struct {
	eventlog.Store
	gates map[string]chan struct{}
}

func (s heldBack) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if gate := s.gates[e.Title]; gate != nil {
		<-gate
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

// A change counts from when it is on record: the session has the title that its log says last.
func TestADocumentOnItsWayHoldsNoOtherUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		b := benchOn(t, eventlog.New(heldBack{memlog.New(), map[string]chan struct{}{"first": slow}}), nil)
		defer b.close()
		retitle := func(title string) {
			if _, err := b.Change(t.Context(), "s", session.Change{Title: &title}); err != nil {
				t.Error(err)
			}
		}
		go retitle("first")
		synctest.Wait()
		retitle("second") // would hang if it waited for the first
		b.wait(b.say("u1", "hello"))
		has := func(title string) {
			if doc, err := b.log.Get(t.Context(), "s"); err != nil || !strings.Contains(string(doc), `"`+title+`"`) {
				t.Errorf("the document is %s, %v, and not of %s", doc, err, title)
			}
		}
		has("second")
		close(slow)
		synctest.Wait()
		has("first")
	})
}

// refusing is a store that holds each document with eve in it back, and then refuses it.
type refusing struct {
	eventlog.Store
	arrived, goOn chan struct{}
}

func (s refusing) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if e.Members["eve"] != "" {
		close(s.arrived)
		<-s.goOn
		return 0, errDisk
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

// A change that cannot be written changes nothing, also nothing of what was changed meanwhile.
func TestAChangeThatFailsUndoesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := refusing{memlog.New(), make(chan struct{}), make(chan struct{})}
		b := benchOn(t, eventlog.New(store), nil)
		defer b.close()
		failed := make(chan error)
		go func() { _, err := b.SetMember(t.Context(), "s", "eve", "viewer"); failed <- err }()
		<-store.arrived
		if _, err := b.SetMember(t.Context(), "s", "bob", "viewer"); err != nil {
			t.Fatal(err)
		}
		close(store.goOn)
		if err := <-failed; !errors.Is(err, errDisk) {
			t.Errorf("the first change: %v", err)
		}
		if info, err := b.Get(t.Context(), "s"); err != nil || len(info.Members) != 1 || info.Members["bob"] == "" {
			t.Errorf("the members are %v, %v", info.Members, err)
		}
	})
}

func TestADocumentOnItsWayDoesNotBringADeletedSessionBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		b := benchOn(t, eventlog.New(heldBack{memlog.New(), map[string]chan struct{}{"late": slow}}), nil)
		defer b.close()
		title, deleted := "late", make(chan error, 1)
		go func() { _, _ = b.Change(t.Context(), "s", session.Change{Title: &title}) }()
		synctest.Wait()
		go func() { _, err := b.Delete(t.Context(), "s"); deleted <- err }()
		synctest.Wait()
		close(slow)
		if err := <-deleted; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := b.log.Get(t.Context(), "s"); !errors.Is(err, eventlog.ErrNoSession) {
			t.Errorf("the deleted session has a document: %v", err)
		}
	})
}

func TestATurnThatWaitsForTheAgentCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan struct{})
		b := newBench(t, with(t, scripted{
			prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
				b.Message("", "done")
				return nil
			},
			closed: func() { <-ends },
		}))
		defer b.close()
		b.wait(b.say("u1", "hello"))
		time.Sleep(6 * time.Minute) // the idle agent is closed, and that takes long
		second := b.say("u2", "hello")
		synctest.Wait()
		if _, done, err := b.StopTurn(t.Context(), "s", second.ID, "ada"); !done || err != nil {
			t.Fatal(done, err)
		}
		synctest.Wait()
		third := b.say("u3", "hello")
		if third.Queued {
			t.Error("a turn that was stopped while it waited for the agent still has the agent")
		}
		close(ends)
		if s := stopOf(t, b.wait(third)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the next turn ended with %+v", s)
		}
	})
}

func TestAPromptThatTheLogRefusesIsNotTheLastTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		bad.on(func(string, []trace.Event) error { return errDisk })
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u1", "hello"), By: "ada"}); !errors.Is(err, session.ErrLog) {
			t.Fatalf("the prompt: %v", err)
		}
		synctest.Wait()
		if turn, ok, err := b.Resumable(t.Context(), "s", ""); ok || err != nil {
			t.Errorf("a client resumes %+v, %v", turn, err)
		}
		bad.on(nil)
		if s := stopOf(t, b.wait(b.say("u2", "hello"))); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the next turn ended with %+v", s)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if doc, err := b.log.Get(t.Context(), "s"); err != nil || strings.Contains(string(doc), `"open"`) {
			t.Errorf("the document is %s, %v", doc, err)
		}
	})
}

// How a session stands is in memory: another tab costs one query of the turns.
func TestATabThatOpensReadsNoRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := new(atomic.Int32)
		b := benchOn(t, eventlog.New(counting{memlog.New(), reads}), with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
			for range 100 {
				b.Message("", "a word")
				b.StepEnd()
			}
			id, _, _ := request(b, "1")
			_, err := host.Permit(ctx, id)
			return err
		}}))
		defer b.close()
		turn := b.say("u1", "hello")
		time.Sleep(time.Minute)
		reads.Store(0)
		tab := b.events(nil)
		defer tab.leave()
		if e := tab.next(); len(e) != 1 || e[0].Type != session.EventSession || len(e[0].Turns) != 1 ||
			e[0].Turns[0].State != session.TurnPaused || e[0].Turns[0].MessageID != turn.MessageID || len(e[0].Turns[0].Requests) != 1 {
			t.Errorf("the session stands like this: %+v", e)
		}
		if n := reads.Load(); n != 0 {
			t.Errorf("the tab has read %d records", n)
		}
	})
}
