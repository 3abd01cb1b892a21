package logtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func registry(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	list := func() map[string]string {
		t.Helper()
		docs := map[string]string{}
		for e, err := range s.List(ctx, eventlog.Query{}) {
			must(t, err)
			if _, twice := docs[e.Session]; twice {
				t.Fatalf("%s is listed twice", e.Session)
			}
			if age := time.Since(e.Updated); age < -time.Minute || age > hang {
				t.Fatalf("%s was updated %v ago", e.Session, age)
			}
			docs[e.Session] = string(e.Doc)
		}
		return docs
	}
	if _, err := s.Get(ctx, "s"); !errors.Is(err, eventlog.ErrNoSession) {
		t.Fatalf("get of an unknown session returned %v", err)
	}
	same(t, "empty list", list(), map[string]string{})
	want := map[string]string{}
	for round := range 2 {
		for i := range 40 {
			id, doc := fmt.Sprintf("session %d", i), fmt.Sprintf(`{"round":%d,"text":"line\nline"}`, round)
			must(t, s.Put(ctx, entry(id, doc)))
			want[id] = doc
		}
	}
	must(t, s.Put(ctx, entry("empty", "")))
	want["empty"] = ""
	same(t, "list", list(), want)
	must(t, s.Delete(ctx, "session 7"))
	must(t, s.Delete(ctx, "session 7"))
	delete(want, "session 7")
	same(t, "list after a removal", list(), want)
	if _, err := s.Get(ctx, "session 7"); !errors.Is(err, eventlog.ErrNoSession) {
		t.Fatalf("get of a removed session returned %v", err)
	}
	must(t, s.Put(ctx, entry("session 7", "again")))
	want["session 7"] = "again"
	same(t, "list after putting it back", list(), want)
	for _, err := range s.List(ctx, eventlog.Query{}) {
		must(t, err)
		break
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for range 10 {
				if err := s.Put(ctx, entry("shared", fmt.Sprintf("by %d", w))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// registryQueries checks that a list holds the sessions of one person, the last
// changed first, page by page.
func registryQueries(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	people := []string{"ann", "bob", "cem"}
	want := map[string][]string{}
	for i := range 60 {
		e := eventlog.Entry{
			Session: fmt.Sprintf("s%02d", i), CreatedBy: people[i%3], Title: "a \x00 title", Kind: "workflow", Agent: "demo",
			CreatedAt: begin, Updated: begin.Add(time.Duration(i) * time.Microsecond), Doc: []byte("{}"),
		}
		if i%5 == 0 {
			e.Members = map[string]string{people[(i+1)%3]: "viewer", "dan\x00": "owner"}
			want[people[(i+1)%3]] = append(want[people[(i+1)%3]], e.Session)
		}
		want[e.CreatedBy] = append(want[e.CreatedBy], e.Session)
		want[""] = append(want[""], e.Session)
		must(t, s.Put(ctx, e))
		e.Title = "another"
		must(t, s.Put(ctx, e))
	}
	for person, ids := range want {
		slices.Reverse(ids)
		for _, page := range []int{0, 7, 100} {
			var got []string
			var before time.Time
			for more := true; more; {
				n := 0
				for e, err := range s.List(ctx, eventlog.Query{Person: person, Before: before, Limit: page}) {
					must(t, err)
					if e.Title != "another" || e.Agent != "demo" || e.Kind != "workflow" || !e.CreatedAt.Equal(begin) || string(e.Doc) != "{}" {
						t.Fatalf("listed as %+v", e)
					}
					got, before = append(got, e.Session), e.Updated
					n++
				}
				more = page != 0 && n == page
			}
			same(t, fmt.Sprintf("the sessions of %q in pages of %d", person, page), got, ids)
		}
	}
	// A person who is no member any more has the session no more.
	must(t, s.Put(ctx, eventlog.Entry{Session: "s00", CreatedBy: "ann", Updated: begin}))
	for e, err := range s.List(ctx, eventlog.Query{Person: "bob"}) {
		must(t, err)
		if e.Session == "s00" {
			t.Error("a member that was removed still has the session")
		}
	}
}

func deletion(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	l := eventlog.New(s)
	var other, log []trace.Record
	add(t, l, "other", "t", &other, mixed(0, 20)...)
	for round := range 3 {
		for i := range 10 {
			add(t, l, "s", fmt.Sprintf("%d/%d", round, i), &log, append(mixed(i, 5), stop(i))...)
		}
		must(t, s.Put(ctx, entry("s", "doc")))
		must(t, l.Delete(ctx, "s"))
		if rs := collect(t, l.After(ctx, "s", 0)); len(rs) != 0 {
			t.Fatalf("%d records are left", len(rs))
		}
		recent(t, s, "s", 0, nil)
		if rs := collect(t, s.Durable(ctx, "s", 0, 0)); len(rs) != 0 {
			t.Fatalf("%d durable records are left", len(rs))
		}
		if marks, err := s.Turns(ctx, "s", 0, 0); err != nil || len(marks) != 0 {
			t.Fatalf("turns are left: %v, %v", marks, err)
		}
		if doc, err := s.Get(ctx, "s"); !errors.Is(err, eventlog.ErrNoSession) {
			t.Fatalf("the document is left: %s, %v", doc, err)
		}
		// Numbers go on: add fails if they go back.
		mark := len(log)
		add(t, l, "s", "after", &log, mixed(0, 4)...)
		add(t, l, "s", "after", &log, stop(1))
		same(t, "new records", collect(t, l.After(ctx, "s", 0)), log[mark:])
		same(t, "new records in the store", collect(t, s.After(ctx, "s", 0)), log[mark:])
		recent(t, s, "s", 0, log[mark:])
		marks, err := s.Turns(ctx, "s", 0, 0)
		must(t, err)
		same(t, "new turns", marks, []eventlog.TurnMark{{Turn: "after", First: firstDurable(log[mark:]), Last: log[mark+4].Seq}})
		must(t, l.Delete(ctx, "s"))
	}
	same(t, "the other session", collect(t, l.After(ctx, "other", 0)), other)
}

// deleteBesideOthers checks that nobody else notices a deletion.
func deleteBesideOthers(t *testing.T, s eventlog.Store) {
	ctx := bounded(t)
	const total = 200
	for i := range 20 {
		_, err := s.Append(ctx, "old", fmt.Sprint(i), append(mixed(0, 20), stop(i)))
		must(t, err)
	}
	l := eventlog.New(s)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; i <= total; i++ {
			if _, err := l.Append(ctx, "s", "t", mixed(i, 1)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		var after uint64
		for r, err := range l.Follow(ctx, "s", 0) {
			if err != nil || r.Seq != after+1 {
				t.Errorf("got number %d after %d, error %v", r.Seq, after, err)
				return
			}
			if after = r.Seq; after == total {
				return
			}
		}
	})
	must(t, l.Delete(ctx, "old"))
	wg.Wait()
	if n := len(collect(t, s.After(ctx, "old", 0))); n != 0 {
		t.Fatalf("%d records are left", n)
	}
}

// newestStays checks that an entry that comes late and is older changes nothing, also when
// both are on their way at once; its records are kept.
func newestStays(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	at := time.UnixMicro(1_000_000)
	version := func(n int) eventlog.Entry {
		e := entry("s", fmt.Sprint("doc ", n))
		e.Updated, e.Members = at.Add(time.Duration(n)*time.Microsecond), map[string]string{fmt.Sprint("p", n%3): "viewer"}
		return e
	}
	const versions = 60
	var writers sync.WaitGroup
	for n := range versions {
		writers.Go(func() {
			if _, err := s.AppendWith(ctx, version(n), "t", []trace.Event{whole(n)}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	must(t, s.Put(ctx, version(versions-2)))
	if doc, err := s.Get(ctx, "s"); err != nil || string(doc) != fmt.Sprint("doc ", versions-1) {
		t.Errorf("the document is %q, %v", doc, err)
	}
	for p := range 3 {
		n := 0
		for _, err := range s.List(ctx, eventlog.Query{Person: fmt.Sprint("p", p)}) {
			must(t, err)
			n++
		}
		if want := map[bool]int{true: 1}[p == (versions-1)%3]; n != want {
			t.Errorf("p%d is a member of %d sessions, want %d", p, n, want)
		}
	}
	if n := len(collect(t, s.Durable(ctx, "s", 0, 0))); n != versions {
		t.Errorf("%d records are kept, want %d", n, versions)
	}
}

// appendWith checks that a document and the records that come with it are kept together.
func appendWith(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	l := eventlog.New(s)
	woken := make(chan struct{}, 1)
	defer l.Watch("s", true, woken)()
	var log []trace.Record
	for i, events := range [][]trace.Event{{stop(0)}, mixed(1, 6), nil, append(mixed(3, 3), stop(3))} {
		turn, before, e := fmt.Sprint(i), len(log), entry("s", fmt.Sprint("doc ", i))
		if i == 1 {
			e.Phase = eventlog.Open
		}
		last, err := l.AppendWith(ctx, e, turn, events)
		must(t, err)
		for j, ev := range events {
			log = append(log, trace.Record{Session: "s", Turn: turn, Seq: uint64(before + j + 1), Event: ev}) //nolint:gosec // a place in a list
		}
		if last != uint64(len(log)) {
			t.Fatalf("%d records have the numbers up to %d", len(log), last)
		}
		if doc, err := s.Get(ctx, "s"); err != nil || string(doc) != fmt.Sprint("doc ", i) {
			t.Fatalf("the document is %q, %v", doc, err)
		}
		open := 0
		for _, err := range s.List(ctx, eventlog.Query{Phases: []eventlog.Phase{eventlog.Open}}) {
			must(t, err)
			open++
		}
		if open == 1 != (e.Phase == eventlog.Open) {
			t.Errorf("%d sessions have open turns, after %d", open, i)
		}
		if n, err := s.Count(ctx); n != 1 || err != nil {
			t.Errorf("%d sessions, %v", n, err)
		}
	}
	select {
	case <-woken:
	default:
		t.Error("a follower was not woken")
	}
	same(t, "durable records", collect(t, s.Durable(ctx, "s", 0, 0)), durableOf(log))
	marks, err := s.Turns(ctx, "s", 0, 0)
	must(t, err)
	if len(marks) != 3 || marks[2].Last != log[len(log)-1].Seq {
		t.Errorf("the turns are %v", marks)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.AppendWith(canceled, entry("new", "doc"), "t", mixed(0, 3)); err == nil {
		t.Error("a canceled append succeeded")
	}
	if _, err := s.Get(ctx, "new"); !errors.Is(err, eventlog.ErrNoSession) {
		t.Errorf("an append that failed has left a document: %v", err)
	}
}
