package sqllog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// report adds the percentiles of times to a benchmark's figures.
func report(b *testing.B, all []time.Duration) {
	b.Helper()
	slices.Sort(all)
	if n := len(all); n > 0 {
		b.ReportMetric(float64(all[n/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(all[n*99/100].Microseconds())/1000, "p99-ms")
	}
}

// ways are the ways to keep the log that are measured side by side.
func ways() map[string]func(*testing.B) sqllog.Options {
	return map[string]func(*testing.B) sqllog.Options{
		"sqlite":            func(b *testing.B) sqllog.Options { return sqllog.Options{Dir: b.TempDir()} },
		"sqlite, fsync off": func(b *testing.B) sqllog.Options { return sqllog.Options{Dir: b.TempDir(), NoSync: true} },
		"postgres": func(b *testing.B) sqllog.Options {
			return sqllog.Options{Dir: b.TempDir(), URL: postgres.Database(b)}
		},
	}
}

// BenchmarkAppend is one durable record at a time, of one writer and of 64.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("some text of an answer ", 15)
	for name, options := range ways() {
		for _, writers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s, %d writers", name, writers), func(b *testing.B) {
				s := open(b, options(b))
				appendAll(b, s, writers, func(int) []trace.Event { return []trace.Event{ends("p", text)} })
			})
		}
	}
}

// BenchmarkDelta is one word at a time, of one writer and of 64.
func BenchmarkDelta(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			s := open(b, sqllog.Options{Dir: b.TempDir()})
			appendAll(b, s, writers, func(i int) []trace.Event { return []trace.Event{grows("p", fmt.Sprintf(" token%d", i%100))} })
		})
	}
}

func appendAll(b *testing.B, s eventlog.Store, writers int, events func(int) []trace.Event) {
	b.Helper()
	took := make([][]time.Duration, writers)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			session := fmt.Sprint(w)
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				began := time.Now()
				if _, err := s.Append(context.Background(), session, "t", events(int(i))); err != nil {
					b.Error(err)
					return
				}
				took[w] = append(took[w], time.Since(began))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	report(b, slices.Concat(took...))
}

// BenchmarkPage is a page of 500 records of a long session.
func BenchmarkPage(b *testing.B) {
	for name, options := range ways() {
		b.Run(name, func(b *testing.B) {
			s := open(b, options(b))
			var events []trace.Event
			for range 500 {
				events = append(events, ends("p", strings.Repeat("some text of an answer ", 15)))
			}
			for range 10 {
				add(b, s, events...)
			}
			b.ResetTimer()
			for range b.N {
				n := 0
				for _, err := range s.Durable(b.Context(), "s", 2000, 2500) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 500 {
					b.Fatalf("%d records", n)
				}
			}
		})
	}
}

// BenchmarkList is a page of 100 sessions of a person, among 100,000.
func BenchmarkList(b *testing.B) {
	for name, options := range ways() {
		b.Run(name, func(b *testing.B) {
			s := open(b, options(b))
			var wg sync.WaitGroup
			for w := range 200 {
				wg.Go(func() {
					for i := w; i < 100_000; i += 200 {
						e := eventlog.Entry{Session: fmt.Sprint("s", i), CreatedBy: fmt.Sprint("person ", i%50), Updated: time.Unix(int64(i), 0), Doc: []byte(`{"title":"What is in this directory?"}`)}
						if err := s.Put(context.Background(), e); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ResetTimer()
			for i := range b.N {
				n := 0
				for _, err := range s.List(b.Context(), eventlog.Query{Person: fmt.Sprint("person ", i%50), Limit: 100}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 100 {
					b.Fatalf("%d sessions", n)
				}
			}
		})
	}
}
