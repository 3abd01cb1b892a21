package session_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// lister is an agent that keeps two conversations by itself.
type lister struct{ echo.Runtime }

func (lister) Conversations(context.Context, agent.Config) ([]agent.Conversation, error) {
	return []agent.Conversation{{Token: "one"}, {Token: "two"}}, nil
}

// countedList counts the documents that a store lists.
type countedList struct {
	eventlog.Store
	listed *int
}

func (s countedList) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		for e, err := range s.Store.List(ctx, q) {
			*s.listed++
			if !yield(e, err) {
				return
			}
		}
	}
}

// A list of conversations reads the documents that have changed since the one before, and not those of
// all sessions. It leaves out what a session has, and shows it again when the session is gone.
func TestAListOfConversationsReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	listed := 0
	log := eventlog.New(countedList{memlog.New(), &listed})
	b := benchOn(t, log, with(t, lister{}))
	for i := range 50 {
		if _, err := b.Create(t.Context(), session.Spec{ID: fmt.Sprint("s", i)}); err != nil {
			t.Fatal(err)
		}
	}
	conversations := func(want int) {
		t.Helper()
		if all, err := b.Conversations(t.Context(), "demo"); err != nil || len(all) != want {
			t.Fatalf("%v, %v", all, err)
		}
	}
	conversations(2)
	if listed < 50 {
		t.Fatalf("the first list reads %d documents", listed)
	}
	listed = 0
	if _, err := b.Create(t.Context(), session.Spec{ID: "has", Resume: "one"}); err != nil {
		t.Fatal(err)
	}
	conversations(1)
	conversations(1)
	if listed > 10 {
		t.Errorf("three more lists read %d documents", listed)
	}
	again := benchOn(t, log, with(t, lister{})) // as another gateway, which has no session in memory
	if all, err := again.Conversations(t.Context(), "demo"); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if _, err := b.Delete(t.Context(), "has"); err != nil {
		t.Fatal(err)
	}
	if all, err := again.Conversations(t.Context(), "demo"); err != nil || len(all) != 2 {
		t.Errorf("after the session was deleted elsewhere: %v, %v", all, err)
	}
}
