package natslog_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/logtest"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) {
	// Each check opens stores on disk; -rapid.checks=100 takes a minute.
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, o natslog.Options) *natslog.Store {
	t.Helper()
	if o.Dir == "" && o.URL == "" {
		o.Dir = t.TempDir()
	}
	s, err := natslog.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(t *testing.T) eventlog.Store { return open(t, natslog.Options{}) })
}

// TestSmall splits nearly everything: the server takes 16 KB at a time, and only
// two sessions are kept in memory.
func TestSmall(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(t *testing.T) eventlog.Store {
		return open(t, natslog.Options{MaxPayload: 16 << 10, Sessions: 2})
	})
}

func TestFsyncAlways(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir, Fsync: natslog.Always})
	want := write(t, s, "s", "t", 0, 10)
	sameRecords(t, read(t, s, "s"), want)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sameRecords(t, read(t, open(t, natslog.Options{Dir: dir}), "s"), want)
}

func TestOpenNeedsOnePlace(t *testing.T) {
	t.Parallel()
	for _, o := range []natslog.Options{{}, {Dir: t.TempDir(), URL: "nats://127.0.0.1:1"}, {URL: "nats://127.0.0.1:1"}} {
		if s, err := natslog.Open(t.Context(), o); err == nil {
			_ = s.Close()
			t.Errorf("%+v opened", o)
		}
	}
}

// write appends n events one by one, of which every third is whole, and returns
// them as records.
func write(t testing.TB, s eventlog.Store, session, turn string, first, n int) []trace.Record {
	t.Helper()
	var rs []trace.Record
	for i := first; i < first+n; i++ {
		e := text(i)
		last, err := s.Append(t.Context(), session, turn, []trace.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, trace.Record{Session: session, Turn: turn, Seq: last, Event: e})
	}
	return rs
}

func text(i int) trace.Event {
	e := trace.Event{ID: fmt.Sprint(i), Time: time.Unix(int64(i), 5).UTC(), Actor: trace.Agent}
	if i%3 == 0 {
		e.Payload = trace.Message{Part: "p", Role: "assistant", Text: fmt.Sprintf("whole %d", i)}
	} else {
		e.Payload = trace.MessageDelta{Part: "p", Delta: fmt.Sprintf("delta %d", i)}
	}
	return e
}

func finish(t testing.TB, s eventlog.Store, session, turn string) trace.Record {
	t.Helper()
	e := trace.Event{ID: "stop " + turn, Time: time.Unix(1, 2).UTC(), Actor: trace.Agent, Payload: trace.Stop{Reason: "end_turn", Outcome: "completed"}}
	last, err := s.Append(t.Context(), session, turn, []trace.Event{e})
	if err != nil {
		t.Fatal(err)
	}
	return trace.Record{Session: session, Turn: turn, Seq: last, Event: e}
}

func read(t testing.TB, s eventlog.Store, session string) []trace.Record {
	t.Helper()
	var rs []trace.Record
	for r, err := range s.After(t.Context(), session, 0) {
		if err != nil {
			t.Fatalf("after %d records: %v", len(rs), err)
		}
		rs = append(rs, r)
	}
	return rs
}

func wholes(rs []trace.Record) []trace.Record {
	return slices.DeleteFunc(slices.Clone(rs), func(r trace.Record) bool { return trace.Provisional(r.Payload) })
}

func sameRecords(t testing.TB, got, want []trace.Record) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%d records, want %d (-want +got):\n%.3000s", len(got), len(want), d)
	}
}
