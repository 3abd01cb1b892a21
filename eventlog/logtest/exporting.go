package logtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// ends appends a turn that ends, to a session with an entry.
func ends(t *testing.T, s eventlog.Store, session, turn string) {
	t.Helper()
	_, err := s.AppendWith(t.Context(), entry(session, "doc"), turn, []trace.Event{whole(0), delta(1), stop(2)})
	must(t, err)
}

// unsent are the sessions in which turns wait, in pages.
func unsent(t *testing.T, s eventlog.Store, exporter string, agents ...string) string {
	t.Helper()
	var names []string
	for q := (eventlog.UnsentQuery{Agents: agents, Limit: 2}); ; {
		page, err := s.Unsent(t.Context(), exporter, q)
		must(t, err)
		for _, one := range page {
			names, q.After = append(names, one.Session), one
		}
		if len(page) < q.Limit {
			return strings.Join(names, " ")
		}
	}
}

// send takes all turns of a session that wait, in their order.
func send(t *testing.T, s eventlog.Store, exporter, session string) string {
	t.Helper()
	var turns []string
	for {
		next, ok, err := s.NextUnsent(t.Context(), exporter, session, nil)
		must(t, err)
		if !ok {
			return strings.Join(turns, " ")
		}
		if next.Agent != "demo" && next.Agent != "other" || next.First == 0 || next.Last <= next.Position {
			t.Fatalf("next is %+v", next)
		}
		turns = append(turns, next.Turn)
		must(t, s.Sent(t.Context(), exporter, session, next.Last))
	}
}

func countUnsent(t *testing.T, s eventlog.Store, exporter string, want int, agents ...string) {
	t.Helper()
	if n, err := s.CountUnsent(t.Context(), exporter, agents); n != want || err != nil {
		t.Errorf("%d turns wait for %s, %v; want %d", n, exporter, err, want)
	}
}

// exporting checks that each turn waits for each exporter until it was sent there.
func exporting(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	ends(t, s, "old", "o1")
	must(t, s.AddExporter(ctx, "new only", false))
	must(t, s.AddExporter(ctx, "all", true))
	ends(t, s, "old", "o2")
	for i := range 5 {
		ends(t, s, fmt.Sprint("s", i), "t1")
	}
	ends(t, s, "s3", "t2")
	_, err := s.AppendWith(ctx, entry("open", "doc"), "t", []trace.Event{whole(1)})
	must(t, err)
	e := entry("foreign", "doc")
	e.Agent = "other"
	_, err = s.AppendWith(ctx, e, "t", []trace.Event{whole(0), stop(1)})
	must(t, err)
	must(t, s.AddExporter(ctx, "new only", true)) // it is known

	same(t, "what waits", unsent(t, s, "new only"), "old s0 s1 s2 s4 s3 foreign")
	same(t, "what waits of an agent", unsent(t, s, "new only", "demo", "none"), "old s0 s1 s2 s4 s3")
	same(t, "what waits of no agent", unsent(t, s, "new only", "none"), "")
	countUnsent(t, s, "new only", 8)
	countUnsent(t, s, "new only", 7, "demo", "none")
	countUnsent(t, s, "all", 9)
	same(t, "the turns of old", send(t, s, "new only", "old"), "o2")
	same(t, "all turns of old", send(t, s, "all", "old"), "o1 o2")
	same(t, "the turns of s3", send(t, s, "new only", "s3"), "t1 t2")
	same(t, "the turns of open", send(t, s, "new only", "open"), "")
	same(t, "the turns of nobody", send(t, s, "new only", "nobody")+send(t, s, "new only", "\x00"), "")
	_, ok, err := s.NextUnsent(ctx, "new only", "s0", []string{"none"})
	if ok || err != nil {
		t.Errorf("a session of another agent: %v, %v", ok, err)
	}
	for _, c := range []struct {
		exporter, session, agent string
		stop                     uint64
		ok                       bool
	}{
		{"new only", "old", "demo", 6, true},
		{"all", "old", "", 6, true},
		{"all", "s0", "", 0, true},
		{"nobody", "old", "", 0, true},
		{"new only", "old", "none", 0, false},
		{"all", "nobody", "", 0, false},
		{"all", "\x00", "", 0, false},
	} {
		var agents []string
		if c.agent != "" {
			agents = []string{c.agent}
		}
		if stop, ok, err := s.Position(ctx, c.exporter, c.session, agents); stop != c.stop || ok != c.ok || err != nil {
			t.Errorf("the position of %s in %s, with the agent %q, is %d, %v, %v", c.exporter, c.session, c.agent, stop, ok, err)
		}
	}
	same(t, "what waits then", unsent(t, s, "new only"), "s0 s1 s2 s4 foreign")
	countUnsent(t, s, "new only", 5)
	countUnsent(t, s, "all", 7)

	// A number that is no stop, or one that is before the position, moves nothing.
	next, _, err := s.NextUnsent(ctx, "all", "s3", []string{"demo"})
	must(t, err)
	must(t, s.Sent(ctx, "all", "s3", next.Last+1))
	must(t, s.Sent(ctx, "all", "s3", next.Last+4))
	must(t, s.Sent(ctx, "new only", "s3", next.Last))
	same(t, "after numbers that are none", send(t, s, "all", "s3")+","+send(t, s, "new only", "s3"), "t1 t2,")
}

// exportingOverlap checks that turns come in the order in which they end.
func exportingOverlap(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	must(t, s.AddExporter(ctx, "x", false))
	for _, c := range []struct {
		turn  string
		event trace.Event
	}{{"long", whole(0)}, {"withdrawn", whole(1)}, {"next", whole(2)}, {"withdrawn", stop(3)}, {"long", stop(4)}, {"next", whole(5)}} {
		_, err := s.AppendWith(ctx, entry("s", "doc"), c.turn, []trace.Event{c.event})
		must(t, err)
	}
	same(t, "turns", send(t, s, "x", "s"), "withdrawn long")
	_, err := s.AppendWith(ctx, entry("s", "doc"), "next", []trace.Event{stop(6)})
	must(t, err)
	same(t, "later turns", send(t, s, "x", "s"), "next")
}

// exportingDeleted checks that a deleted session waits for nobody, and that its next life does.
func exportingDeleted(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	must(t, s.AddExporter(ctx, "x", false))
	ends(t, s, "s", "t1")
	ends(t, s, "s", "t2")
	next, ok, err := s.NextUnsent(ctx, "x", "s", nil)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, s.Sent(ctx, "x", "s", next.Last))
	next, _, err = s.NextUnsent(ctx, "x", "s", nil)
	must(t, err)
	must(t, s.Delete(ctx, "s"))
	must(t, s.Sent(ctx, "x", "s", next.Last)) // it was on its way
	same(t, "after the deletion", unsent(t, s, "x")+send(t, s, "x", "s"), "")
	countUnsent(t, s, "x", 0)
	ends(t, s, "s", "t3")
	next, ok, err = s.NextUnsent(ctx, "x", "s", nil)
	if err != nil || !ok || next.Turn != "t3" || next.Position != 0 {
		t.Errorf("the turn of the next life is %+v, %v, %v", next, ok, err)
	}
}

// endsOfTurns checks that a log tells of each session in which a turn has ended, or has got a score.
func endsOfTurns(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	l := eventlog.New(s)
	first := l.Ends()
	defer first.Close()
	_, err := l.Append(ctx, "s", "t", mixed(0, 5))
	must(t, err)
	if name, ok := first.Take(); ok {
		t.Errorf("a turn of %s has ended", name)
	}
	_, err = l.Append(ctx, "s", "t", []trace.Event{whole(1), stop(1)})
	must(t, err)
	<-first.More()
	second := l.Ends()
	_, err = l.AppendWith(ctx, entry("other", "doc"), "t", []trace.Event{stop(1)})
	must(t, err)
	_, err = l.AppendWith(ctx, entry("other", "doc"), "u", []trace.Event{stop(2)})
	must(t, err)
	<-first.More()
	<-second.More()
	got := map[string]int{}
	for name, ok := first.Take(); ok; name, ok = first.Take() {
		got[name]++
	}
	same(t, "sessions", got, map[string]int{"s": 1, "other": 1})
	if name, ok := second.Take(); !ok || name != "other" {
		t.Errorf("the second has %q", name)
	}
	_, err = l.Append(ctx, "other", "", []trace.Event{{Payload: trace.Score{Turn: "t", Name: "tests", Verdict: trace.ScorePass}.Payload()}})
	must(t, err)
	<-second.More()
	if name, ok := second.Take(); !ok || name != "other" {
		t.Errorf("of the score, the second has %q", name)
	}
	second.Close()
	_, err = l.Append(ctx, "s", "u", []trace.Event{stop(1)})
	must(t, err)
	if name, ok := second.Take(); ok {
		t.Errorf("a closed one has %q", name)
	}
}

// exportedOnce checks that one gateway at a time exports a session.
func exportedOnce(t *testing.T, open Pair) {
	ctx := bounded(t)
	first, second := open(t, hang, hang)
	for _, s := range []eventlog.Store{first, second} {
		must(t, s.AddExporter(ctx, "x", false))
	}
	ends(t, first, "s", "t1")
	ends(t, first, "s", "t2")
	same(t, "at its owner", unsent(t, first, "x"), "s")
	same(t, "beside its owner", unsent(t, second, "x"), "")
	countUnsent(t, second, "x", 2)
	must(t, first.Close())
	same(t, "after its owner", unsent(t, second, "x"), "s")
	same(t, "the turns", send(t, second, "x", "s"), "t1 t2")
}

// exportersRace checks that of two gateways one gets a turn, and the other one when the first has
// done nothing for 4 leases.
func exportersRace(t *testing.T, open Pair) {
	const lease = 500 * time.Millisecond
	ctx := bounded(t)
	first, second := open(t, lease, lease)
	stores := []eventlog.Store{first, second}
	for round := range 10 {
		session := fmt.Sprint("s", round)
		ends(t, first, session, "t")
		var got [2]bool
		var turns [2]eventlog.UnsentTurn
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				var err error
				if turns[i], got[i], err = s.NextUnsent(ctx, "x", session, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		winner := 0
		if got[1] {
			winner = 1
		}
		if got[0] == got[1] {
			t.Fatalf("the turn is with both, or with nobody: %v", got)
		}
		if _, again, err := stores[winner].NextUnsent(ctx, "x", session, nil); !again || err != nil {
			t.Fatalf("the winner does not get the turn again: %v", err)
		}
		if round == 0 { // the winner dies
			began := time.Now()
			for {
				if _, ok, err := stores[1-winner].NextUnsent(ctx, "x", session, nil); err != nil {
					t.Fatal(err)
				} else if ok {
					break
				}
				time.Sleep(lease / 10)
			}
			if took := time.Since(began); took < 3*lease {
				t.Errorf("another gateway got the turn after %v", took)
			}
			continue
		}
		must(t, stores[winner].Sent(ctx, "x", session, turns[winner].Last))
		same(t, "what is left", send(t, stores[1-winner], "x", session), "")
	}
}
