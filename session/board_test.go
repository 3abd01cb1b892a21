package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// listReader reads the changes of a list.
type listReader struct {
	events  []string
	pages   int
	mayTake chan struct{} // an event is taken for each; nil: at once
	leave   func()
	ended   chan struct{}
}

// watchList begins to read the list of a person.
func (b *bench) watchList(person string, limit int, mayTake chan struct{}) *listReader {
	ctx, cancel := context.WithCancel(b.t.Context())
	r := &listReader{mayTake: mayTake, leave: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for e, err := range b.WatchList(ctx, session.Selection{Person: person}, limit) {
			if err != nil {
				b.t.Error(err)
				return
			}
			r.take(e)
			if r.mayTake != nil {
				select {
				case <-r.mayTake:
				case <-ctx.Done():
				}
			}
		}
	}()
	b.t.Cleanup(func() { cancel(); <-r.ended })
	return r
}

func (r *listReader) take(e session.ListEvent) {
	switch {
	case e.Page != nil:
		r.pages++
		ids := []string{"page"}
		for _, s := range e.Page.Sessions {
			ids = append(ids, s.ID)
		}
		r.events = append(r.events, strings.Join(ids, " "))
	case e.Changed != nil:
		outcome := ""
		if e.Changed.Last != nil {
			outcome = " " + string(e.Changed.Last.Outcome)
		}
		r.events = append(r.events, fmt.Sprint(e.Changed.ID, " ", e.Changed.State, outcome))
	default:
		r.events = append(r.events, "gone "+e.Gone)
	}
}

// now are the events since the last call.
func (r *listReader) now() string {
	time.Sleep(time.Second)
	synctest.Wait()
	events := r.events
	r.events = nil
	return strings.Join(events, ", ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestAReaderOfTheListLearnsOfEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		r := b.watchList("", 10, nil)
		expect(t, "the start", r.now(), "page s")
		if _, err := b.Create(t.Context(), session.Spec{ID: "n"}); err != nil {
			t.Fatal(err)
		}
		expect(t, "a new session", r.now(), "n idle")
		name := "another"
		if _, err := b.Change(t.Context(), "n", session.Change{Title: &name}); err != nil {
			t.Fatal(err)
		}
		expect(t, "a title", r.now(), "n idle")
		turn := b.say("u1", "ask")
		got := r.now()
		if !strings.HasPrefix(got, "s running") || !strings.HasSuffix(got, "s paused") {
			t.Errorf("a turn that asks: %q", got)
		}
		if _, _, err := b.StopTurn(t.Context(), "s", turn.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		if got := r.now(); !strings.HasSuffix(got, "s idle canceled") {
			t.Errorf("a stop: %q", got)
		}
		if _, err := b.Delete(t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
		expect(t, "a deletion", r.now(), "gone n")
		r.leave()
		<-r.ended
		if n := b.ListReaders(); n != 0 {
			t.Errorf("%d readers stay", n)
		}
	})
}

func TestAFailedTurnIsSeenInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		r := b.watchList("", 10, nil)
		r.now()
		b.wait(b.say("u1", "error"))
		if got := r.now(); !strings.HasSuffix(got, "s idle "+string(trace.OutcomeFailed)) {
			t.Errorf("%q", got)
		}
	})
}

// The owner invites one person and removes them again. The other person gets no event.
func TestAPersonHearsOfTheirOwnSessionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		if _, err := b.Create(t.Context(), session.Spec{ID: "n", By: "ada"}); err != nil {
			t.Fatal(err)
		}
		bob, eve := b.watchList("bob", 10, nil), b.watchList("eve", 10, nil)
		expect(t, "bob's start", bob.now(), "page")
		set := func(role string) {
			t.Helper()
			if _, err := b.SetMember(t.Context(), "n", "bob", role); err != nil {
				t.Fatal(err)
			}
		}
		set("viewer")
		expect(t, "invited", bob.now(), "n idle")
		set("collaborator")
		expect(t, "another role", bob.now(), "n idle")
		set("")
		expect(t, "put out", bob.now(), "gone n")
		name := "a secret"
		if _, err := b.Change(t.Context(), "n", session.Change{Title: &name}); err != nil {
			t.Fatal(err)
		}
		set("viewer")
		set("")
		if got := bob.now(); got != "" && got != "n idle, gone n" {
			t.Errorf("in and out within a moment: %q", got)
		}
		if _, err := b.Delete(t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
		expect(t, "deleted", bob.now(), "")
		expect(t, "eve", eve.now(), "page")
	})
}

// A reader that takes nothing costs one entry for each session, and in the end the page.
//
//evidence:for limit-pushed-list
func TestASlowReaderOfTheListGetsTheLastStateOfEachSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		mayTake := make(chan struct{})
		r := b.watchList("", 5, mayTake)
		r.now()
		rename := func(to string) {
			if _, err := b.Change(t.Context(), "s", session.Change{Title: &to}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			rename(fmt.Sprint(i))
		}
		mayTake <- struct{}{}
		expect(t, "after 50 changes of one session", r.now(), "s idle")
		for i := range 1100 {
			if _, err := b.Create(t.Context(), session.Spec{ID: fmt.Sprint("n", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.ListBacklog(); n > 1001 {
			t.Errorf("%d changes wait for a reader", n)
		}
		mayTake <- struct{}{}
		expect(t, "after 1100 new sessions", r.now(), "page n1099 n1098 n1097 n1096 n1095")
	})
}

// Changes that come while the page is read are not lost: 40 sessions are made beside 20
// readers who come one after another.
func TestNothingIsMissedAtTheStartOfAList(t *testing.T) {
	log := eventlog.New(memlog.New())
	b := benchOn(t, log, nil)
	defer b.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 40 {
			if _, err := b.Create(t.Context(), session.Spec{ID: fmt.Sprint("n", i)}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		has := map[string]bool{}
		for e, err := range b.WatchList(ctx, session.Selection{}, 100) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Page != nil {
				for _, s := range e.Page.Sessions {
					has[s.ID] = true
				}
			}
			if e.Changed != nil {
				has[e.Changed.ID] = true
			}
			if len(has) == 41 {
				break
			}
		}
		if len(has) != 41 {
			t.Errorf("a reader has %d sessions", len(has))
		}
		cancel()
	}
	<-done
}

// The list costs nothing while nobody reads it, and ends with the hub.
func TestReadersOfTheListEndWithTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		readers := []*listReader{b.watchList("", 10, nil), b.watchList("ada", 10, nil)}
		synctest.Wait()
		b.close()
		for _, r := range readers {
			<-r.ended
		}
		if all := slices.Concat(readers[0].events, readers[1].events); len(all) != 2 {
			t.Errorf("%q", all)
		}
	})
}
