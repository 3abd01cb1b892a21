package sqllog_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// reads counts how often a reader needs the database.
type reads int

func (r *reads) Reads() error { *r++; return nil }
func (*reads) Waits()         {}

func TestAReaderOfNewRecordsNeedsNoDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		last := add(t, s, begins("p"), grows("p", "text"), ends("p", "text"))
		read := func(after uint64, want int) (n reads) {
			t.Helper()
			recent, all := s.Recent("s", after)
			got := 0
			for _, err := range s.After(eventlog.WithPace(t.Context(), &n), "s", after) {
				if err != nil {
					t.Fatal(err)
				}
				got++
			}
			if got != want {
				t.Errorf("%d records after %d, want %d", got, after, want)
			}
			if all != (n == 0) || all && len(recent) != want {
				t.Errorf("memory has %d records after %d, and says that these are all: %v; want %d", len(recent), after, all, want)
			}
			return n
		}
		if n := read(0, 3); n != 0 {
			t.Errorf("new records are read from the database %d times", n)
		}
		sqllog.Sweep(s)
		sqllog.Sweep(s)
		if n := read(0, 3); n != 0 {
			t.Errorf("records of an open turn are read from the database %d times", n)
		}
		sqllog.Forget(s)
		add(t, s, begins("q"), ends("q", "text"))
		if n := read(last, 2); n != 0 {
			t.Errorf("a reader that follows reads the database %d times", n)
		}
		add(t, s, event(trace.Stop{Outcome: trace.OutcomeCompleted}))
		sqllog.Sweep(s)
		sqllog.Sweep(s)
		if n := read(0, 6); n != 1 {
			t.Errorf("older records are read from the database %d times", n)
		}
	})
}

// forgetful is a store whose memory has no durable record when somebody reads.
type forgetful struct{ *sqllog.Store }

func (s forgetful) forget() { sqllog.Forget(s.Store) }

func (s forgetful) After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	s.forget()
	return s.Store.After(ctx, session, after)
}

func (s forgetful) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	s.forget()
	return s.Store.Durable(ctx, session, after, until)
}

// A reader gets each durable record once, and the whole text of the open parts, however much
// of the session is in memory.
func TestMemoryAndDatabaseAreOneLog(t *testing.T) {
	t.Parallel()
	const turn = "t"
	stores := map[int]*sqllog.Store{}
	for _, live := range []int{1, 2000, 0} {
		stores[live] = open(t, sqllog.Options{Dir: t.TempDir(), NoSync: true, LiveBytes: live})
	}
	sessions := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := stores[rapid.SampledFrom([]int{1, 2000, 0}).Draw(rt, "bytes")]
		sessions++
		session := fmt.Sprint("s", sessions)
		defer s.Delete(t.Context(), session) //nolint:errcheck // the next check has a session of its own
		var err error
		var last, parts uint64
		var durable []uint64
		texts := map[uint64]string{0: ""} // of the open part, by the newest number then
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				var events []trace.Event
				text := texts[last]
				next := last
				for range rapid.IntRange(1, 5).Draw(rt, "events") {
					next++
					if rapid.IntRange(0, 3).Draw(rt, "kind") == 0 {
						events = append(events, event(trace.Step{Phase: trace.PhaseStart}))
						durable = append(durable, next)
					} else {
						events = append(events, grows(fmt.Sprint(parts), "a word "))
						text += "a word "
					}
					texts[next] = text
				}
				if last, err = s.Append(rt.Context(), session, turn, events); err != nil || last != next {
					rt.Fatalf("number %d, want %d: %v", last, next, err)
				}
			},
			"sweep":  func(*rapid.T) { sqllog.Sweep(s) },
			"forget": func(*rapid.T) { sqllog.Forget(s) },
			"delete": func(rt *rapid.T) {
				if err := s.Delete(rt.Context(), session); err != nil {
					rt.Fatal(err)
				}
				durable, texts = nil, map[uint64]string{last: ""}
				parts++
			},
			"": func(rt *rapid.T) {
				for after, had := range texts {
					var seqs []uint64
					text := had
					for r, err := range s.After(rt.Context(), session, after) {
						if err != nil {
							rt.Fatal(err)
						}
						if d, is := r.Payload.(trace.MessageDelta); is {
							text += d.Delta
						} else {
							seqs = append(seqs, r.Seq)
						}
					}
					want := slices.DeleteFunc(slices.Clone(durable), func(seq uint64) bool { return seq <= after })
					if !slices.Equal(seqs, want) || text != texts[last] {
						rt.Fatalf("after %d of %d: durable records %v with a text of %d bytes, want %v with %d", after, last, seqs, len(text), want, len(texts[last]))
					}
				}
			},
		})
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A large record of each of many sessions is in the database, and in memory no longer.
//
//evidence:for limit-live-buffer
func TestACommittedRecordIsNotKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	const size, sessions = 8 << 20, 12
	s := open(t, sqllog.Options{Dir: t.TempDir(), LiveBytes: 1 << 20})
	before := heap()
	for i := range sessions {
		event := trace.Event{ID: "e", Actor: trace.Agent, Time: time.Now(), Payload: trace.Message{Part: "p", Text: strings.Repeat("x", size)}}
		if _, err := s.Append(t.Context(), fmt.Sprint("s", i), "turn", []trace.Event{event}); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 3*size {
		t.Errorf("after %d records of %d MB the store keeps %d MB", sessions, size>>20, grown>>20)
	}
}

// Of an open turn the store keeps the texts once, and little beside them. It counts all that.
//
//evidence:for limit-live-buffer
func TestOpenTurnsAreKeptWithinTheirBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	const mega, sessions = 1 << 20, 4
	for name, c := range map[string]struct {
		deltas int
		event  trace.Event
		most   int64 // kept
	}{
		"long deltas":   {1000, grows("p", strings.Repeat("x", 8<<10)), sessions * 8 * mega * 13 / 10},
		"short deltas":  {50_000, grows("p", "word "), sessions * 3 * mega},
		"large outputs": {100, event(trace.ToolResultProgress{ToolCallID: "c", Output: []byte(`"` + strings.Repeat("x", mega) + `"`)}), sessions * 2 * mega},
	} {
		s := open(t, sqllog.Options{Dir: t.TempDir(), LiveBytes: 64 << 10, TotalBytes: mega, NoSync: true, Linger: time.Nanosecond})
		before := heap()
		for i := range sessions {
			id := fmt.Sprint("s", i)
			for n := range c.deltas {
				e := c.event
				if d, is := e.Payload.(trace.MessageDelta); is {
					d.Delta = strings.Clone(d.Delta)
					e.Payload = d
				} else if p, is := e.Payload.(trace.ToolResultProgress); is {
					p.Output = slices.Clone(p.Output)
					e.Payload = p
				}
				if _, err := s.Append(t.Context(), id, "t", []trace.Event{e}); err != nil {
					t.Fatal(n, err)
				}
			}
		}
		allowed := c.most + 2*mega // of SQLite, and of the writer
		var kept, counted int64
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // the writer has texts until they are written
			if kept, counted = heap()-before, sqllog.CountedBytes(s); kept <= allowed && counted >= (kept-2*mega)*3/4 {
				break
			}
		}
		if kept > allowed {
			t.Errorf("%s: the store keeps %d KB, and may keep %d", name, kept>>10, allowed>>10)
		}
		if counted < (kept-2*mega)*3/4 || counted > c.most {
			t.Errorf("%s: the store keeps %d KB, and counts %d", name, kept>>10, counted>>10)
		}
		for i := range sessions {
			if _, err := s.Append(t.Context(), fmt.Sprint("s", i), "t", []trace.Event{stops()}); err != nil {
				t.Fatal(err)
			}
		}
		sqllog.Sweep(s)
		sqllog.Forget(s)
		if counted := sqllog.CountedBytes(s); counted != 0 {
			t.Errorf("%s: %d bytes are counted when all turns are over", name, counted)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
