package session_test

import (
	"fmt"
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
		page, next, err := b.List(b.t.Context(), mark, limit)
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
		log := eventlog.New(memlog.New(), eventlog.Options{})
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
			if n, running := b.Count(); n != len(want) || running != 0 {
				t.Errorf("%d sessions, %d of which run", n, running)
			}
		}
		check(b)
		b.wait(b.say("u1", "hello"))
		synctest.Wait()
		want = append([]string{"s"}, want[:20]...)
		check(b)
		if err := b.Delete(t.Context(), "n7"); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(id string) bool { return id == "n7" })
		check(b)
		time.Sleep(time.Hour) // none of them is in memory
		check(b)
		b.say("u2", "ask")
		synctest.Wait()
		if _, running := b.Count(); running != 1 {
			t.Errorf("%d sessions run", running)
		}
		if page, _, err := b.List(t.Context(), 0, 1); err != nil || page[0].State != session.Running || page[0].Turn == "" {
			t.Errorf("%+v %v", page, err)
		}
	})
}

// A start reads the list as it was.
func TestListAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New(), eventlog.Options{})
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
