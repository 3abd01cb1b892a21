package logtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// Pair returns two stores on one database, as two gateways would open it, with these leases. A
// store may renew a lease of less than a second too late.
type Pair func(t *testing.T, first, second time.Duration) (one, other eventlog.Store)

// RunShared puts pairs of stores to the test: a session has one writer at a time.
func RunShared(t *testing.T, open Pair) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Pair)
	}{
		{"the second waits for the first", secondIsRefused},
		{"a session is given back", givenBack},
		{"the first has lost its lease", takenOver},
		{"two writers race", writersRace},
		{"a reader beside the owner", readerBeside},
		{"a session is exported by its owner", exportedOnce},
		{"two exporters race", exportersRace},
		{"grants of the other", grantsElsewhere},
		{"the term of a session", terms},
		{"a document of an earlier term", earlierTerm},
		{"all sessions are given back", allGivenBack},
		{"a store is closed while it gives sessions back", givenBackAtTheEnd},
		{"the gateways know each other", neighbours},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open)
		})
	}
}

func wantNotOwner(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, eventlog.ErrNotOwner) {
		t.Fatalf("%s: %v, want ErrNotOwner", what, err)
	}
}

func secondIsRefused(t *testing.T, open Pair) {
	ctx := t.Context()
	first, second := open(t, hang, hang)
	var log []trace.Record
	add(t, first, "s", "t", &log, mixed(0, 3)...)
	_, err := second.Append(ctx, "s", "u", mixed(0, 1))
	wantNotOwner(t, "an append beside the owner", err)
	wantNotOwner(t, "a document beside the owner", second.Put(ctx, entry("s", "doc")))
	wantNotOwner(t, "a deletion beside the owner", second.Delete(ctx, "s"))
	add(t, first, "s", "t", &log, stop(4))
	add(t, second, "other", "t", &[]trace.Record{}, mixed(0, 3)...)
	same(t, "durable records", collect(t, second.Durable(ctx, "s", 0, 0)), durableOf(log))
}

func givenBack(t *testing.T, open Pair) {
	first, second := open(t, hang, hang)
	var log []trace.Record
	add(t, first, "s", "t", &log, whole(0), delta(1), stop(2))
	must(t, first.Close())
	add(t, second, "s", "u", &log, whole(3), stop(4))
	if n := len(log); log[n-2].Seq != log[n-3].Seq+1 {
		t.Errorf("a session that was given back continues with number %d after %d", log[n-2].Seq, log[n-3].Seq)
	}
	same(t, "durable records", collect(t, second.Durable(t.Context(), "s", 0, 0)), durableOf(log))
}

// takenOver checks that an owner that did not renew its lease in time writes nothing
// more, also when it tries again.
func takenOver(t *testing.T, open Pair) {
	const lease = 300 * time.Millisecond
	ctx := bounded(t)
	first, second := open(t, lease, hang)
	var log []trace.Record
	add(t, first, "s", "old", &log, whole(0), delta(1))
	for ; ; time.Sleep(lease / 10) {
		last, err := second.Append(ctx, "s", "new", []trace.Event{whole(2)})
		if err == nil {
			log = append(log, records("s", "new", last, []trace.Event{whole(2)})...)
			break
		}
		wantNotOwner(t, "an append before the lease is over", err)
	}
	for i := range 3 {
		_, err := first.Append(ctx, "s", "old", []trace.Event{whole(9)})
		wantNotOwner(t, fmt.Sprintf("append %d of the owner that slept", i), err)
	}
	wantNotOwner(t, "its next document", first.Put(ctx, entry("s", "doc")))
	add(t, second, "s", "new", &log, delta(4), stop(5))
	same(t, "durable records", collect(t, second.Durable(ctx, "s", 0, 0)), durableOf(log))
}

// writersRace checks that of two writers one gets the session, and that each number
// is given once.
func writersRace(t *testing.T, open Pair) {
	ctx := bounded(t)
	first, second := open(t, hang, hang)
	for round := range 10 {
		session := fmt.Sprint("s", round)
		var errs [2]error
		var lasts [2]uint64
		var wg sync.WaitGroup
		for i, s := range []eventlog.Store{first, second} {
			wg.Go(func() { lasts[i], errs[i] = s.Append(ctx, session, fmt.Sprint("by ", i), mixed(0, 4)) })
		}
		wg.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		wantNotOwner(t, "the append of the loser", errs[1-winner])
		if errs[winner] != nil || lasts[winner] != 4 {
			t.Fatalf("the winner's append returned %d, %v", lasts[winner], errs[winner])
		}
		same(t, "records", collect(t, first.Durable(ctx, session, 0, 0)), durableOf(records(session, fmt.Sprint("by ", winner), 4, mixed(0, 4))))
	}
}

// readerBeside checks that a store sees what another one commits.
func readerBeside(t *testing.T, open Pair) {
	ctx := bounded(t)
	first, second := open(t, hang, hang)
	var log []trace.Record
	for i := range 20 {
		add(t, first, "s", fmt.Sprint("t", i), &log, prompt(fmt.Sprint("u", i), "hello"), whole(i), stop(i))
		same(t, "records beside the owner", collect(t, second.After(ctx, "s", 0)), log)
		same(t, "messages beside the owner", marks(t, second, "s"), marks(t, first, "s"))
		if n := number(t, second, ctx, "s"); n != log[len(log)-1].Seq {
			t.Fatalf("last is %d, want %d", n, log[len(log)-1].Seq)
		}
	}
}

// owner is a store that tells who owns a session.
func owner(t *testing.T, s eventlog.Store) eventlog.Owner {
	t.Helper()
	o, is := s.(eventlog.Owner)
	if !is {
		t.Fatalf("%T tells no owners", s)
	}
	return o
}

func wantTerm(t *testing.T, what string, s eventlog.Store, owned, next uint64) {
	t.Helper()
	const session = "s"
	o := owner(t, s)
	if got := o.Owned(session); got != owned {
		t.Errorf("%s: it owns the session under term %d, want %d", what, got, owned)
	}
	got, err := o.Term(t.Context(), session)
	if next == 0 {
		wantNotOwner(t, what, err)
	} else if got != next || err != nil {
		t.Errorf("%s: the term is %d (%v), want %d", what, got, err, next)
	}
}

func terms(t *testing.T, open Pair) {
	first, second := open(t, hang, hang)
	var log []trace.Record
	wantTerm(t, "nobody has written", first, 0, 1)
	wantTerm(t, "nobody has written", second, 0, 1)
	add(t, first, "s", "t", &log, whole(0), stop(1))
	wantTerm(t, "the owner", first, 1, 1)
	wantTerm(t, "beside the owner", second, 0, 0)
	must(t, first.Close())
	wantTerm(t, "after the owner", second, 0, 2)
	add(t, second, "s", "u", &log, whole(2), stop(3))
	wantTerm(t, "the next owner", second, 2, 2)
}

// earlierTerm checks that a document that is based on an earlier term overwrites nothing.
func earlierTerm(t *testing.T, open Pair) {
	ctx := bounded(t)
	first, second := open(t, hang, hang)
	put := func(s eventlog.Store, doc string, term uint64) error {
		e := entry("s", doc)
		e.Term = term
		return s.Put(ctx, e)
	}
	must(t, put(first, "one", 1))
	owner(t, first).GiveBack()
	untilGivenBack(t, second)
	wantNotOwner(t, "a document of the term before", put(second, "stale", 1))
	must(t, put(second, "two", 2))
	wantNotOwner(t, "a document beside the owner", put(first, "stale", 3))
	owner(t, second).GiveBack()
	untilGivenBack(t, first)
	wantNotOwner(t, "a document of the former owner", put(first, "stale", 2))
	must(t, put(first, "three", 3))
	if doc, err := second.Get(ctx, "s"); err != nil || string(doc) != "three" {
		t.Errorf("the document is %q (%v)", doc, err)
	}
}

// untilGivenBack waits until the store could have the session s.
func untilGivenBack(t *testing.T, s eventlog.Store) {
	t.Helper()
	ctx := bounded(t)
	for ; ; time.Sleep(time.Millisecond) {
		_, err := owner(t, s).Term(ctx, "s")
		if err == nil {
			return
		}
		wantNotOwner(t, "the term", err)
	}
}

// givenBackAtTheEnd checks that a store that gives sessions back can be closed at the same time.
func givenBackAtTheEnd(t *testing.T, open Pair) {
	first, second := open(t, hang, hang)
	for i := range 20 {
		add(t, first, fmt.Sprint("s", i), "t", &[]trace.Record{}, whole(0), stop(1))
	}
	owner(t, first).GiveBack()
	must(t, first.Close())
	for i := range 20 {
		add(t, second, fmt.Sprint("s", i), "u", &[]trace.Record{}, whole(0), stop(1))
	}
}

// allGivenBack checks that a store that drains gives back what is not in use at once, and a session
// with an open turn after the turn.
func allGivenBack(t *testing.T, open Pair) {
	first, second := open(t, hang, hang)
	var log, other []trace.Record
	add(t, first, "s", "t", &log, whole(0), stop(1))
	add(t, first, "busy", "t", &other, whole(0), delta(1))
	owner(t, first).GiveBack()
	untilGivenBack(t, second)
	add(t, second, "s", "u", &log, whole(2), stop(3))
	_, err := second.Append(t.Context(), "busy", "u", mixed(0, 1))
	wantNotOwner(t, "an append beside an open turn", err)
	add(t, first, "busy", "t", &other, stop(2))
	for ; ; time.Sleep(10 * time.Millisecond) {
		if _, err = owner(t, second).Term(t.Context(), "busy"); err == nil {
			return
		}
		wantNotOwner(t, "the term after the turn", err)
	}
}

// neighbour is a store that knows the other gateways.
func neighbour(t *testing.T, s eventlog.Store) eventlog.Neighbours {
	t.Helper()
	n, is := s.(eventlog.Neighbours)
	if !is {
		t.Fatalf("%T knows no other gateways", s)
	}
	return n
}

// neighbours checks that each store knows who runs, where it is, and who owns which session.
func neighbours(t *testing.T, open Pair) {
	ctx := bounded(t)
	first, second := open(t, hang, hang)
	one, other := neighbour(t, first), neighbour(t, second)
	owns := func(what string, asked eventlog.Neighbours, want eventlog.Gateway) {
		t.Helper()
		got, owned, err := asked.OwnerOf(ctx, "s")
		if err != nil || owned != (want.ID != "") || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the owner is %+v, %v (%v), want %+v", what, got, owned, err, want)
		}
	}
	run := func(what string, asked eventlog.Neighbours, want ...eventlog.Gateway) {
		t.Helper()
		slices.SortFunc(want, func(a, b eventlog.Gateway) int { return strings.Compare(a.Name, b.Name) })
		got, err := asked.Gateways(ctx)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: there run %+v (%v), want %+v", what, got, err, want)
		}
	}
	run("at the start", one, one.Self(), other.Self())
	must(t, one.Announce(ctx, "127.0.0.1:7000", []byte{1, 0, 255}, "0.1.0"))
	must(t, other.Announce(ctx, "127.0.0.1:7001", nil, "0.2.0"))
	if g := one.Self(); g.ID == other.Self().ID || !strings.HasPrefix(g.ID, g.Name+":") || g.Address != "127.0.0.1:7000" || !slices.Equal(g.Key, []byte{1, 0, 255}) || g.Version != "0.1.0" || g.Draining {
		t.Errorf("the first is %+v", g)
	}
	run("to the first", one, one.Self(), other.Self())
	run("to the second", other, one.Self(), other.Self())
	owns("nobody has written", other, eventlog.Gateway{})
	var log []trace.Record
	add(t, first, "s", "t", &log, whole(0), delta(1))
	owns("the owner", one, one.Self())
	owns("beside the owner", other, one.Self())
	one.GiveBack()
	if !one.Self().Draining {
		t.Error("a store that gives all back does not drain")
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		got, owned, err := other.OwnerOf(ctx, "s")
		if must(t, err); !owned {
			t.Fatal("a session with an open turn has no owner, because the owner drains")
		}
		if got.Draining {
			break
		}
	}
	add(t, first, "s", "t", &log, stop(2))
	untilGivenBack(t, second)
	owns("after the owner", other, eventlog.Gateway{})
	must(t, first.Close())
	run("after the end of the first", other, other.Self())
	add(t, second, "s", "u", &log, whole(3), stop(4))
	owns("the next owner", other, other.Self())
}
