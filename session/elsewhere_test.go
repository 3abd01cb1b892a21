package session_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// side is what one gateway has of a store that two gateways use.
type side struct {
	eventlog.Store
	heard chan string // by this gateway
	other chan string
}

func twoSides() (first, second side) {
	store, a, b := memlog.New(), make(chan string, 100), make(chan string, 100)
	return side{store, a, b}, side{store, b, a}
}

func (s side) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	last, err := s.Store.AppendWith(ctx, e, turn, events)
	s.other <- e.Session
	return last, err
}

func (s side) Delete(ctx context.Context, id string) error {
	err := s.Store.Delete(ctx, id)
	s.other <- id
	return err
}

// Elsewhere implements eventlog.Shared.
func (s side) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for more := yield("", nil); more; {
			select {
			case <-ctx.Done():
				return
			case id := <-s.heard:
				more = yield(id, nil)
			}
		}
	}
}

func TestAListHasTheSessionsOfOtherGateways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := twoSides()
		b, other := benchOn(t, eventlog.New(one), nil), benchOn(t, eventlog.New(two), nil)
		defer other.Close(t.Context()) //nolint:errcheck // it has no error
		defer b.close()
		set := func(role string) {
			t.Helper()
			if _, err := other.SetMember(t.Context(), "n", "bob", role); err != nil {
				t.Fatal(err)
			}
		}
		bob, eve := b.watchList("bob", 10, nil), b.watchList("eve", 10, nil)
		if got := bob.now(); got != "page" && got != "page, page" {
			t.Errorf("the start: %q", got)
		}
		if _, err := other.Create(t.Context(), session.Spec{ID: "n", By: "ada"}); err != nil {
			t.Fatal(err)
		}
		expect(t, "a session of another person", bob.now(), "")
		set("viewer")
		expect(t, "invited elsewhere", bob.now(), "n idle")
		if _, err := b.Get(t.Context(), "n"); err != nil { // now it is in memory here
			t.Fatal(err)
		}
		turn, err := other.Prompt(t.Context(), "n", promptOf("u1", "ada"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if page, _, err := b.List(t.Context(), session.Selection{Person: "bob"}, 0, 1); err != nil || page[0].State != session.Running || page[0].Turn != turn.ID {
			t.Errorf("the list while a turn runs elsewhere: %+v %v", page, err)
		}
		bob.now()
		set("")
		expect(t, "put out elsewhere", bob.now(), "gone n")
		set("viewer")
		bob.now()
		if _, err := other.Delete(t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
		expect(t, "deleted elsewhere", bob.now(), "gone n")
		for _, e := range eve.events {
			expect(t, "the other person", e, "page")
		}
	})
}

// A store without owners is compared at each use.
func TestASessionInMemoryIsNotOlderThanTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := twoSides()
		a, b := benchOn(t, eventlog.New(one), nil), benchOn(t, eventlog.New(two), nil)
		defer b.Close(t.Context()) //nolint:errcheck // it has no error
		defer a.close()
		if _, err := a.SetMember(t.Context(), "s", "eve", "viewer"); err != nil {
			t.Fatal(err)
		}
		a.wait(a.say("u1", "hello"))
		if _, err := b.SetMember(t.Context(), "s", "eve", ""); err != nil {
			t.Fatal(err)
		}
		b.wait(b.say("u2", "hello"))
		if ids := a.history(); ids != "u1 A u2 A" {
			t.Errorf("the history at the first gateway: %s", ids)
		}
		a.wait(a.say("u3", "hello"))
		if info, err := b.Get(t.Context(), "s"); err != nil || info.Members["eve"] != "" {
			t.Errorf("eve was put out, and after a prompt at the first gateway is %q again (%v)", info.Members["eve"], err)
		}
	})
}

// notMine is what a second gateway has of a store in which another one owns all sessions.
type notMine struct{ keeping }

func (notMine) Append(context.Context, string, string, []trace.Event) (uint64, error) {
	return 0, fmt.Errorf("session: %w", eventlog.ErrNotOwner)
}

func (notMine) AppendWith(context.Context, eventlog.Entry, string, []trace.Event) (uint64, error) {
	return 0, fmt.Errorf("session: %w", eventlog.ErrNotOwner)
}

func TestAStartTakesASessionBeforeItsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		mine, others := newFar(), newFar()
		first := benchOn(t, eventlog.New(store), with(t, mine))
		first.say("u1", "x")
		time.Sleep(3 * time.Second)
		errorsLogged := &errorLog{}
		second, err := session.New(t.Context(), session.Options{
			Log: eventlog.New(notMine{store}), Default: "demo", Logger: slog.New(errorsLogged), Agents: map[string]session.Agent{"demo": {Runtime: others, Cwd: t.TempDir()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if len(others.reattached)+len(others.ended) != 0 {
			t.Error("the second gateway has taken up the turn of the first")
		}
		errorsLogged.none(t)
		_ = second.Close(t.Context())
		first.close()
	})
}
