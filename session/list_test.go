package session_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// pages lists all sessions, so many at a time.
func (b *bench) pages(limit int) []string {
	b.t.Helper()
	var all []string
	for mark := int64(0); ; {
		page, next, err := b.List(b.t.Context(), session.Selection{}, mark, limit)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(page) > limit || next != 0 && len(page) < limit {
			b.t.Errorf("%d sessions on a page of %d, and then comes %d", len(page), limit, next)
		}
		for _, s := range page {
			all = append(all, s.ID)
		}
		if mark = next; mark == 0 {
			return all
		}
	}
}

func TestListInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		defer b.close()
		want := []string{"s"}
		for i := range 20 {
			if i%3 == 0 {
				time.Sleep(time.Second) // the others are made in one and the same moment
			}
			id := fmt.Sprint("n", i)
			if _, err := b.Create(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want, 0, id)
		}
		check := func(b *bench) {
			t.Helper()
			for _, limit := range []int{1, 2, 7, 20, 21, 100} {
				if got := b.pages(limit); !slices.Equal(got, want) {
					t.Errorf("by %d: %q, want %q", limit, got, want)
				}
			}
			if n, err := b.Count(t.Context()); n != len(want) || b.Running() != 0 || err != nil {
				t.Errorf("%d sessions, %d of which run, %v", n, b.Running(), err)
			}
		}
		check(b)
		b.wait(b.say("u1", "hello"))
		synctest.Wait()
		want = append([]string{"s"}, want[:20]...)
		check(b)
		if _, err := b.Delete(t.Context(), "n7"); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(id string) bool { return id == "n7" })
		check(b)
		time.Sleep(time.Hour) // none of them is in memory
		check(b)
		b.say("u2", "ask")
		synctest.Wait()
		if b.Running() != 1 {
			t.Errorf("%d sessions run", b.Running())
		}
		if page, _, err := b.List(t.Context(), session.Selection{}, 0, 1); err != nil || page[0].State != session.Running || page[0].Turn == "" {
			t.Errorf("%+v %v", page, err)
		}
	})
}

// A start reads the list as it was.
func TestListAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		for i := range 9 {
			time.Sleep(time.Second)
			if _, err := b.Create(t.Context(), session.Spec{ID: fmt.Sprint("n", i)}); err != nil {
				t.Fatal(err)
			}
		}
		_ = b.Close(t.Context())
		next := benchOn(t, log, nil)
		defer next.close()
		if got := next.pages(4); strings.Join(got, " ") != "n8 n7 n6 n5 n4 n3 n2 n1 n0 s" {
			t.Errorf("%q", got)
		}
	})
}

// listed is a store that counts the entries that are read of its list.
type listed struct {
	eventlog.Store
	entries int
}

func (s *listed) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		for e, err := range s.Store.List(ctx, q) {
			if s.entries++; !yield(e, err) {
				return
			}
		}
	}
}

// Sessions cost memory while somebody uses them, and not because they exist.
func TestManySessionsCostNothingAtAStart(t *testing.T) {
	const sessions, page = 20_000, 100
	store := &listed{Store: memlog.New()}
	log := eventlog.New(store)
	doc := []byte(`{"id":"a session","agent":"demo","title":"` + strings.Repeat("word ", 10) + `","resume":"a token"}`)
	for i := range sessions {
		if err := log.Put(t.Context(), eventlog.Entry{Session: fmt.Sprint("n", i), Updated: time.UnixMicro(int64(i)), Doc: doc}); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	b := benchOn(t, log, nil)
	defer b.close()
	if grown := heap() - before; grown > sessions*50 {
		t.Errorf("a start with %d sessions holds %d kB", sessions, grown>>10)
	}
	store.entries = 0
	list, next, err := b.List(t.Context(), session.Selection{}, 0, page)
	if err != nil || len(list) != page || next == 0 {
		t.Errorf("a page has %d sessions, %d, %v", len(list), next, err)
	}
	if store.entries > page+1 {
		t.Errorf("a page of %d sessions has read %d", page, store.entries)
	}
	if b.InMemory() > 1 {
		t.Errorf("the list has brought %d sessions into memory", b.InMemory())
	}
}

// The registry and the memory tell the same of a session's state.
func TestAListIsChosenByState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		defer b.close()
		check := func(what string, want map[session.State]bool) {
			t.Helper()
			for _, state := range []session.State{session.Idle, session.Running, session.Paused, session.Failed} {
				page, _, err := b.List(t.Context(), session.Selection{State: state}, 0, 10)
				if err != nil || len(page) == 1 != want[state] {
					t.Errorf("%s: %d sessions are %s, %v", what, len(page), state, err)
				}
			}
		}
		check("at the start", map[session.State]bool{session.Idle: true})
		turn := b.say("u1", "slow")
		time.Sleep(time.Second)
		check("in a turn", map[session.State]bool{session.Running: true})
		if _, _, err := b.StopTurn(t.Context(), "s", turn.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		check("after a stop", map[session.State]bool{session.Idle: true})
		b.wait(b.say("u2", "error"))
		time.Sleep(time.Second)
		check("after a failure", map[session.State]bool{session.Idle: true, session.Failed: true})
		b.pause("u3", "ask")
		check("while it asks", map[session.State]bool{session.Paused: true})
	})
}

func TestAPromptTakesASessionOutOfTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, nil)
		defer b.close()
		yes := true
		if info, err := b.Change(t.Context(), "s", session.Change{Archived: &yes}); err != nil || !info.Archived {
			t.Fatalf("%+v %v", info, err)
		}
		time.Sleep(time.Hour) // it leaves memory
		archived := func() int {
			t.Helper()
			page, _, err := b.List(t.Context(), session.Selection{Archived: &yes}, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(page)
		}
		if archived() != 1 {
			t.Error("the archive is empty")
		}
		b.wait(b.say("u1", "hello"))
		if archived() != 0 {
			t.Error("a session with a new prompt is archived")
		}
	})
}
