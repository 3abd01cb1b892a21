package sqllog_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
			sqllog.Forget(s)
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

// vocabulary is words of which each is half as frequent as one before it.
func vocabulary(random *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%xord", int(math.Pow(20_000, random.Float64()))) // by Zipf's law
	}
	return strings.Join(words, " ")
}

// BenchmarkSearch searches 10,000 sessions of three turns each, with 200 words in each turn.
func BenchmarkSearch(b *testing.B) {
	for name, options := range ways() {
		if name == "sqlite, fsync off" {
			continue
		}
		s := open(b, options(b))
		var wg sync.WaitGroup
		for w := range 100 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(w), 1)) //nolint:gosec // the same words each time
				for i := w; i < 10_000; i += 100 {
					e := eventlog.Entry{Session: fmt.Sprint("s", i), Title: vocabulary(random, 6), CreatedBy: "ann", Updated: time.Unix(int64(i), 0), Doc: []byte(`{"title":"What is in this directory?"}`)}
					for turn := range 3 {
						events := []trace.Event{
							{ID: "p", Payload: trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprint("m", turn), Parts: []trace.InputPart{{Type: "text", Text: vocabulary(random, 20)}}}}},
							{ID: "a", Payload: trace.Message{Part: "p", Role: "assistant", Text: vocabulary(random, 180)}},
						}
						if _, err := s.AppendWith(context.Background(), e, fmt.Sprint("t", turn), events); err != nil {
							b.Error(err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		awaitIndex(b, s)
		for words, limit := range map[string]int{"w1ord": 100, "w7ord": 100, "w4e2ord": 100, "w4e2ord w1a": 100, "nowhere": 100, "w": 100, "w1ord w2ord w3ord w5ord": 100} {
			for _, person := range []string{"", "ann"} {
				b.Run(fmt.Sprintf("%s, %s, of %q", name, words, person), func(b *testing.B) {
					n := 0
					for b.Loop() {
						n = 0
						for _, err := range s.List(b.Context(), eventlog.Query{Person: person, Words: eventlog.Words(words), Limit: limit, Archived: new(bool)}) {
							if err != nil {
								b.Fatal(err)
							}
							n++
						}
					}
					b.ReportMetric(float64(n), "sessions")
				})
			}
		}
	}
}

// BenchmarkIndex is an answer of 180 words, and the words that go into the index behind it.
func BenchmarkIndex(b *testing.B) {
	for name, options := range ways() {
		b.Run(name, func(b *testing.B) {
			s := open(b, sqllog.IndexAfter(options(b), time.Hour))
			random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same words each time
			var appended, indexed []time.Duration
			for b.Loop() {
				text := vocabulary(random, 180)
				began := time.Now()
				add(b, s, trace.Event{ID: "e", Payload: trace.Message{Part: "p", Role: trace.RoleAssistant, Text: text}})
				appended = append(appended, time.Since(began))
				awaitIndex(b, s)
				indexed = append(indexed, time.Since(began)-appended[len(appended)-1])
			}
			report(b, indexed)
			slices.Sort(appended)
			b.ReportMetric(float64(appended[len(appended)/2].Microseconds())/1000, "append-p50-ms")
		})
	}
}
