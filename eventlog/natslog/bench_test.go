package natslog_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

var full = flag.Bool("full", false, "benchmark the history of a store with 200 other sessions of 500 turns, which takes minutes to write")

// latencies collects how long operations took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	l.all = append(l.all, d)
	l.mu.Unlock()
}

func (l *latencies) report(b *testing.B) {
	slices.Sort(l.all)
	if n := len(l.all); n > 0 {
		for _, p := range []struct {
			name string
			i    int
		}{{"p50", n / 2}, {"p99", n * 99 / 100}, {"max", n - 1}} {
			b.ReportMetric(float64(l.all[p.i].Microseconds())/1000, p.name+"-ms")
		}
	}
}

func word(i int) []trace.Event {
	return []trace.Event{{ID: "0123456789abcdef", Time: time.Now(), Actor: trace.Agent, Payload: trace.MessageDelta{Part: "part-1", Delta: fmt.Sprintf(" token%d", i%100)}}}
}

// turnOf is what a turn leaves: 15 wholes of some 400 bytes.
func turnOf(i int) []trace.Event {
	text := strings.Repeat("some text of an answer ", 15)
	var events []trace.Event
	for k := range 14 {
		events = append(events, trace.Event{ID: fmt.Sprintf("%d-%d", i, k), Time: time.Now(), Actor: trace.Agent, Payload: trace.Message{Part: "p", Role: "assistant", Text: text}})
	}
	return append(events, trace.Event{ID: fmt.Sprintf("%d-stop", i), Time: time.Now(), Actor: trace.Agent, Payload: trace.Stop{Reason: "end_turn", Outcome: "completed", FinalOutput: text}})
}

// BenchmarkAppend is one delta at a time: alone, from many sessions as fast as
// they can, and from 100 sessions at 50 a second each.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name    string
		writers int
		fsync   time.Duration
	}{{"alone", 1, 0}, {"64 writers", 64, 0}, {"alone, fsync always", 1, natslog.Always}, {"64 writers, fsync always", 64, natslog.Always}} {
		b.Run(c.name, func(b *testing.B) {
			s := open(b, natslog.Options{Fsync: c.fsync})
			var took latencies
			var next atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range c.writers {
				wg.Go(func() {
					session := fmt.Sprint(w)
					for {
						i := int(next.Add(1))
						if i > b.N {
							return
						}
						start := time.Now()
						if _, err := s.Append(context.Background(), session, "t", word(i)); err != nil {
							b.Error(err)
							return
						}
						took.add(time.Since(start))
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			took.report(b)
		})
	}
}

// paced appends deltas from 100 sessions at 50 a second each while the context
// lasts.
func paced(ctx context.Context, b *testing.B, s *natslog.Store, took *latencies) {
	b.Helper()
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			time.Sleep(time.Duration(w) * 200 * time.Microsecond) // not all at once
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			session := fmt.Sprintf("paced %d", w)
			for i := 0; ; i++ {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				start := time.Now()
				if _, err := s.Append(context.Background(), session, "t", word(i)); err != nil {
					b.Error(err)
					return
				}
				took.add(time.Since(start))
			}
		})
	}
	wg.Wait()
}

// BenchmarkAppendBeside is 5,000 deltas a second while something else goes on.
func BenchmarkAppendBeside(b *testing.B) {
	b.Run("nothing", func(b *testing.B) {
		s := open(b, natslog.Options{})
		beside(b, s, func(ctx context.Context) { <-ctx.Done() })
	})
	b.Run("records that reach their age", func(b *testing.B) {
		s := open(b, natslog.Options{Keep: 2 * time.Second})
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		paced(ctx, b, s, &latencies{}) // from here on as many go as come
		beside(b, s, func(ctx context.Context) { <-ctx.Done() })
	})
	b.Run("a deletion", func(b *testing.B) {
		s := open(b, natslog.Options{})
		fill(b, s, 4, 2000) // enough to last
		beside(b, s, func(ctx context.Context) {
			start := time.Now()
			if err := s.Delete(ctx, "other 0"); err != nil && ctx.Err() == nil {
				b.Error(err)
			}
			b.ReportMetric(float64(time.Since(start).Milliseconds()), "deletion-ms")
			<-ctx.Done()
		})
	})
	b.Run("history reads", func(b *testing.B) {
		s := open(b, natslog.Options{})
		fill(b, s, 20, 200)
		beside(b, s, func(ctx context.Context) {
			for i := 0; ctx.Err() == nil; i++ {
				page(ctx, b, s, fmt.Sprintf("other %d", i%20), 0)
			}
		})
	})
}

func beside(b *testing.B, s *natslog.Store, other func(context.Context)) {
	b.Helper()
	b.ResetTimer()
	var took latencies
	for range b.N {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { other(ctx) })
		paced(ctx, b, s, &took)
		wg.Wait()
		cancel()
	}
	took.report(b)
}

// BenchmarkFollow is 200 sessions with 25 records a second each and a follower
// each: how long from the beginning of an append until the follower has it.
func BenchmarkFollow(b *testing.B) {
	const sessions, records = 200, 75
	for range b.N {
		l := eventlog.New(open(b, natslog.Options{}), eventlog.Options{})
		var took latencies
		var wg sync.WaitGroup
		for w := range sessions {
			session := fmt.Sprint(w)
			var started [records + 1]atomic.Int64
			wg.Go(func() {
				for r, err := range l.Follow(b.Context(), session, 0) {
					if err != nil {
						b.Error(err)
						return
					}
					took.add(time.Since(time.Unix(0, started[r.Seq].Load())))
					if r.Seq == records {
						return
					}
				}
			})
			wg.Go(func() {
				time.Sleep(time.Duration(w) * 200 * time.Microsecond)
				tick := time.NewTicker(40 * time.Millisecond)
				defer tick.Stop()
				for i := 1; i <= records; i++ {
					<-tick.C
					started[i].Store(time.Now().UnixNano())
					if _, err := l.Append(b.Context(), session, "t", word(i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		took.report(b)
	}
}

// fill writes sessions whose turns are interleaved, as they are in life.
func fill(b *testing.B, s *natslog.Store, sessions, turns int) {
	b.Helper()
	for t := range turns {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := w; i < sessions; i += 8 {
					appendTurn(b, s, fmt.Sprintf("other %d", i), t)
				}
			})
		}
		wg.Wait()
	}
}

// appendTurn appends a turn in five batches, as group commit would.
func appendTurn(b *testing.B, s *natslog.Store, session string, i int) {
	b.Helper()
	for events := range slices.Chunk(turnOf(i), 3) {
		if _, err := s.Append(context.Background(), session, fmt.Sprintf("turn %d", i), events); err != nil {
			b.Error(err)
		}
	}
}

// page reads the wholes of the newest 100 turns before a number.
func page(ctx context.Context, b *testing.B, s *natslog.Store, session string, before uint64) (records int, first uint64) {
	b.Helper()
	turns, err := s.Turns(ctx, session, before, 100)
	if err != nil || len(turns) == 0 {
		if ctx.Err() == nil {
			b.Errorf("%d turns, %v", len(turns), err)
		}
		return 0, 0
	}
	for _, err := range s.Wholes(ctx, session, turns[0].First-1, turns[len(turns)-1].Last) {
		if err != nil {
			if ctx.Err() == nil {
				b.Error(err)
			}
			return records, 0
		}
		records++
	}
	return records, turns[0].First
}

// BenchmarkHistory reads pages of 100 turns of a session with very many turns,
// whose turns lie among those of other sessions. "cold" is right after a start:
// the session has to be opened, and the server has nothing in memory.
func BenchmarkHistory(b *testing.B) {
	others, turns, own := 40, 50, 2000
	if *full {
		others, turns, own = 200, 500, 10_000
	}
	dir := b.TempDir()
	s := open(b, natslog.Options{Dir: dir})
	for t := range turns {
		fill(b, s, others, 1)
		for i := range own / turns {
			appendTurn(b, s, "long", t*own/turns+i)
		}
	}
	// The last 100 turns lie among others, too: one of ours to one of each other.
	for t := range 100 {
		appendTurn(b, s, "long", own+t)
		fill(b, s, others, 1)
	}
	pages := func(b *testing.B, s *natslog.Store, prepare func() uint64) {
		var took latencies
		for range b.N {
			before := prepare()
			start := time.Now()
			n, _ := page(b.Context(), b, s, "long", before)
			took.add(time.Since(start))
			if n != 1500 {
				b.Fatalf("a page has %d records", n)
			}
		}
		took.report(b)
	}
	b.Run("newest", func(b *testing.B) { pages(b, s, func() uint64 { return 0 }) })
	b.Run("older", func(b *testing.B) {
		var before uint64
		pages(b, s, func() uint64 {
			_, before = page(b.Context(), b, s, "long", before)
			if before < 4000 {
				before = 0
			}
			return before
		})
	})
	b.Run("cold", func(b *testing.B) {
		var took, opened latencies
		for range b.N {
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			s = open(b, natslog.Options{Dir: dir})
			opened.add(time.Since(start))
			start = time.Now()
			if n, _ := page(b.Context(), b, s, "long", 0); n != 1500 {
				b.Fatalf("a page has %d records", n)
			}
			took.add(time.Since(start))
		}
		took.report(b)
		b.ReportMetric(float64(opened.all[0].Milliseconds()), "open-ms")
	})
}
