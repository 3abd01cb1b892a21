package logtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func numbers(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	if n := number(t, s, ctx, "s"); n != 0 {
		t.Fatalf("a session without records has last number %d", n)
	}
	for _, c := range []struct {
		events []trace.Event
		last   uint64
	}{{mixed(1, 1), 1}, {mixed(2, 1), 2}, {mixed(3, 7), 9}, {nil, 9}, {mixed(10, 1), 10}} {
		last, err := s.Append(ctx, "s", "t", c.events)
		must(t, err)
		if last != c.last {
			t.Fatalf("append of %d events returned %d, want %d", len(c.events), last, c.last)
		}
		if n := number(t, s, ctx, "s"); n != c.last {
			t.Fatalf("last is %d, want %d", n, c.last)
		}
	}
	same(t, "all records", collect(t, s.After(ctx, "s", 0)), records("s", "t", 10, mixed(1, 10)))
	if last, err := s.Append(ctx, "other", "t", mixed(1, 2)); err != nil || last != 2 {
		t.Fatalf("another session's numbers begin at %d (%v)", last, err)
	}
}

func ranges(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	var log []trace.Record
	for i := range 12 {
		add(t, s, "s", fmt.Sprintf("t%d", i/4), &log, mixed(i*5, 5)...)
	}
	durable := durableOf(log)
	last := log[len(log)-1].Seq
	for after := uint64(0); after <= last+2; after++ {
		want := slices.DeleteFunc(slices.Clone(log), func(r trace.Record) bool { return r.Seq <= after })
		same(t, fmt.Sprintf("after %d", after), append([]trace.Record{}, collect(t, s.After(ctx, "s", after))...), want)
		recent(t, s, "s", after, want)
		for _, until := range []uint64{0, 1, after, after + 1, after + 7, last, last + 9} {
			want := slices.DeleteFunc(slices.Clone(durable), func(r trace.Record) bool {
				return r.Seq <= after || until != 0 && r.Seq > until
			})
			got := append([]trace.Record{}, collect(t, s.Durable(ctx, "s", after, until))...)
			same(t, fmt.Sprintf("durable after %d until %d", after, until), got, want)
		}
	}
}

// recent checks that memory has what the log has, or says that it does not.
func recent(t *testing.T, s eventlog.Store, session string, after uint64, want []trace.Record) {
	t.Helper()
	if got, all := s.Recent(session, after); all {
		same(t, fmt.Sprintf("recent after %d", after), append([]trace.Record{}, got...), append([]trace.Record{}, want...))
	}
}

func kinds(t *testing.T, s eventlog.Store) {
	want := records("s", "", 15, everyKind())
	last, err := s.Append(t.Context(), "s", "", everyKind())
	must(t, err)
	if last != 15 {
		t.Fatalf("last is %d", last)
	}
	same(t, "every kind", collect(t, s.After(t.Context(), "s", 0)), want)
	same(t, "durable", collect(t, s.Durable(t.Context(), "s", 0, 0)), durableOf(want))
	if marks, err := s.Turns(t.Context(), "s", 0, 0); err != nil || len(marks) != 0 {
		t.Fatalf("records outside a turn made turns: %v, %v", marks, err)
	}
}

func turns(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	var log []trace.Record
	var want []eventlog.TurnMark
	for i := range 25 {
		turn := fmt.Sprintf("turn %d", i)
		batch := append(mixed(i*10+i%3, 4), whole(i))
		durable := slices.IndexFunc(batch, func(e trace.Event) bool { return !trace.Ephemeral(e.Payload) })
		add(t, s, "s", turn, &log, batch...)
		want = append(want, eventlog.TurnMark{Turn: turn, First: log[len(log)-5+durable].Seq})
		add(t, s, "s", "", &log, whole(i))
		if i != 24 {
			add(t, s, "s", turn, &log, delta(i), stop(i))
			want[i].Last = log[len(log)-1].Seq
		}
	}
	for _, c := range []struct {
		before   uint64
		limit    int
		from, to int
	}{
		{0, 0, 0, 25},
		{0, 3, 22, 25},
		{0, 100, 0, 25},
		{want[10].First, 0, 0, 10},
		{want[10].First + 1, 4, 7, 11},
		{want[10].Last, 4, 7, 11},
		{1, 5, 0, 0},
		{want[2].First, 5, 0, 2},
		{1 << 40, 2, 23, 25},
	} {
		got, err := s.Turns(ctx, "s", c.before, c.limit)
		must(t, err)
		same(t, fmt.Sprintf("turns before %d, limit %d", c.before, c.limit), append([]eventlog.TurnMark{}, got...), append([]eventlog.TurnMark{}, want[c.from:c.to]...))
	}
	for _, m := range want[20:24] {
		rs := collect(t, s.Durable(ctx, "s", m.First-1, m.Last))
		if rs[len(rs)-1].Seq != m.Last || rs[len(rs)-1].Turn != m.Turn {
			t.Fatalf("the durable records of %s end with %v", m.Turn, rs[len(rs)-1])
		}
	}
}

func interleaved(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	var log []trace.Record
	add(t, s, "s", "a", &log, whole(1))
	add(t, s, "s", "b", &log, delta(2), whole(3))
	add(t, s, "s", "a", &log, delta(4), stop(5))
	add(t, s, "s", "c", &log, stop(6))
	add(t, s, "s", "b", &log, stop(7))
	same(t, "records", collect(t, s.After(ctx, "s", 0)), log)
	got, err := s.Turns(ctx, "s", 0, 0)
	must(t, err)
	same(t, "turns", got, []eventlog.TurnMark{{Turn: "a", First: 1, Last: 5}, {Turn: "b", First: 3, Last: 7}, {Turn: "c", First: 6, Last: 6}})
}

func unknownSession(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	if rs := collect(t, s.After(ctx, "nobody", 0)); len(rs) != 0 {
		t.Fatalf("records of an unknown session: %v", rs)
	}
	if rs := collect(t, s.Durable(ctx, "nobody", 0, 0)); len(rs) != 0 {
		t.Fatalf("durable records of an unknown session: %v", rs)
	}
	marks, err := s.Turns(ctx, "nobody", 0, 10)
	if err != nil || len(marks) != 0 {
		t.Fatalf("turns of an unknown session: %v, %v", marks, err)
	}
	for _, id := range []string{"\xff", "a\x00b"} { // that no session can have
		if _, err := s.Get(ctx, id); !errors.Is(err, eventlog.ErrNoSession) {
			t.Fatalf("get of %q returned %v", id, err)
		}
		if rs := collect(t, s.After(ctx, id, 0)); len(rs) != 0 || number(t, s, ctx, id) != 0 {
			t.Fatalf("records of %q: %v", id, rs)
		}
		if marks, err := s.Turns(ctx, id, 0, 0); err != nil || len(marks) != 0 {
			t.Fatalf("turns of %q: %v, %v", id, marks, err)
		}
	}
	must(t, s.Delete(ctx, "nobody"))
}

func sessionIDs(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	logs := map[string][]trace.Record{}
	for round := range 2 {
		for i, id := range weirdIDs() {
			log := logs[id]
			add(t, s, id, "turn of "+id, &log, mixed(i+round, 3)...)
			logs[id] = log
			must(t, s.Put(ctx, entry(id, "doc of "+id)))
		}
	}
	for _, id := range weirdIDs() {
		same(t, "records of "+id, collect(t, s.After(ctx, id, 0)), logs[id])
		doc, err := s.Get(ctx, id)
		must(t, err)
		same(t, "document of "+id, string(doc), "doc of "+id)
		marks, err := s.Turns(ctx, id, 0, 0)
		must(t, err)
		same(t, "turns of "+id, marks, []eventlog.TurnMark{{Turn: "turn of " + id, First: firstDurable(logs[id])}})
	}
}

func firstDurable(log []trace.Record) uint64 { return durableOf(log)[0].Seq }

func largeRecords(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	output, err := json.Marshal(strings.Repeat("all work and no play ", 70_000))
	must(t, err)
	var log []trace.Record
	add(t, s, "s", "t", &log,
		whole(1), delta(2),
		event("big", trace.ToolResult{ToolCallID: "c", Status: "completed", Output: output}),
		event("bigger", trace.ToolResultProgress{ToolCallID: "c", Output: bytes.Clone(output)}),
		delta(3), whole(4))
	add(t, s, "s", "u", &log, event("first", trace.Message{Part: "p", Role: "assistant", Text: strings.Repeat("x", 1<<20)}))
	add(t, s, "s", "u", &log, event("last", trace.Stop{Reason: "end_turn", Outcome: "completed", FinalOutput: strings.Repeat("y", 1<<20)}))
	add(t, s, "s", "v", &log, delta(5))
	for _, i := range []int{2, 3, 4, len(log) - 1} {
		same(t, "records after a large one", collect(t, s.After(ctx, "s", log[i].Seq-1)), log[i:])
	}
	same(t, "one large record", collect(t, s.Durable(ctx, "s", 6, 7)), log[6:7])
	same(t, "records", collect(t, s.After(ctx, "s", 0)), log)
	got, err := s.Turns(ctx, "s", 0, 0)
	must(t, err)
	same(t, "turns", got, []eventlog.TurnMark{{Turn: "t", First: 1}, {Turn: "u", First: 7, Last: 8}})
}

func earlyBreak(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	var log []trace.Record
	add(t, s, "s", "t", &log, mixed(0, 300)...)
	for _, n := range []int{0, 1, 17, 299} {
		i := 0
		for r, err := range s.After(ctx, "s", 0) {
			must(t, err)
			if r.Seq != log[i].Seq {
				t.Fatalf("record %d has number %d", i, r.Seq)
			}
			if i == n {
				break
			}
			i++
		}
	}
	add(t, s, "s", "t", &log, stop(1))
	same(t, "records", collect(t, s.After(ctx, "s", 0)), log)
}
