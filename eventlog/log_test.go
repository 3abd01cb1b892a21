package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// fake is a store that counts reads and fails on demand.
type fake struct {
	Store
	mu      sync.Mutex
	records map[string][]trace.Record
	reads   int
	fail    error // of the next append, after half of it has landed
}

func (f *fake) Append(_ context.Context, session, turn string, events []trace.Event) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.fail
	if f.fail = nil; err != nil {
		events = events[:len(events)/2]
	}
	rs := f.records[session]
	for _, e := range events {
		rs = append(rs, trace.Record{Session: session, Turn: turn, Seq: uint64(len(rs)) + 1, Event: e})
	}
	f.records[session] = rs
	return uint64(len(rs)), err
}

func (f *fake) After(_ context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		f.mu.Lock()
		f.reads++
		rs := f.records[session]
		f.mu.Unlock()
		for _, r := range rs[min(after, uint64(len(rs))):] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (f *fake) Delete(_ context.Context, session string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.records, session)
	return nil
}

func (f *fake) Close() error { return nil }

func newFake() *fake { return &fake{records: map[string][]trace.Record{}} }

func texts(n int) []trace.Event {
	events := make([]trace.Event, n)
	for i := range events {
		events[i] = trace.Event{ID: fmt.Sprint(i), Payload: trace.MessageDelta{Delta: "text"}}
	}
	return events
}

func (l *Log) append(t *testing.T, session string, n int) uint64 {
	t.Helper()
	last, err := l.Append(t.Context(), session, "t", texts(n))
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// numbers reads what is after the mark and says how often that asked the store.
func (l *Log) numbers(t *testing.T, session string, after uint64) (seqs []uint64, reads int) {
	t.Helper()
	f := l.Store.(*fake)
	reads = f.reads
	for r, err := range l.After(t.Context(), session, after) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, r.Seq)
	}
	return seqs, f.reads - reads
}

func TestTailServesOnlyWhatItHas(t *testing.T) {
	t.Parallel()
	l := New(newFake(), Options{TailRecords: 5})
	defer l.Close()
	l.append(t, "s", 8)
	for _, c := range []struct {
		after uint64
		n     int
		reads int
	}{{0, 8, 1}, {2, 6, 1}, {3, 5, 0}, {7, 1, 0}, {8, 0, 0}, {9, 0, 0}} {
		if seqs, reads := l.numbers(t, "s", c.after); len(seqs) != c.n || reads != c.reads {
			t.Errorf("after %d: numbers %v with %d reads of the store, want %d with %d", c.after, seqs, reads, c.n, c.reads)
		}
	}
	if _, reads := l.numbers(t, "other", 0); reads != 1 {
		t.Error("a session without a tail was not read from the store")
	}
}

func TestTailAfterFailedAppend(t *testing.T) {
	t.Parallel()
	f := newFake()
	l := New(f, Options{})
	defer l.Close()
	l.append(t, "s", 2)
	f.fail = errors.New("disk full")
	w := l.Watch("s")
	defer w.Close()
	woken := w.Appended()
	if _, err := l.Append(t.Context(), "s", "t", texts(4)); err == nil {
		t.Fatal("the error got lost")
	}
	select {
	case <-woken:
	default:
		t.Error("a failed append, of which a part is on record, woke nobody")
	}
	if seqs, _ := l.numbers(t, "s", 2); len(seqs) != 2 {
		t.Errorf("numbers after a half append are %v", seqs)
	}
	l.append(t, "s", 1)
	if seqs, reads := l.numbers(t, "s", 2); len(seqs) != 3 || reads != 1 {
		t.Errorf("numbers are %v with %d reads of the store", seqs, reads)
	}
	if seqs, reads := l.numbers(t, "s", 4); len(seqs) != 1 || reads != 0 {
		t.Errorf("numbers are %v with %d reads of the store", seqs, reads)
	}
}

func TestTailsAreBounded(t *testing.T) {
	t.Parallel()
	one := trace.ApproxSize(texts(1)[0].Payload)
	l := New(newFake(), Options{TailBytes: 10 * one, TotalBytes: 25 * one})
	defer l.Close()
	for i := range 50 {
		l.append(t, fmt.Sprint(i%7), 4)
		if l.bytes > 25*one {
			t.Fatalf("tails hold %d bytes, want at most %d", l.bytes, 25*one)
		}
	}
	sum := 0
	for _, s := range l.sessions {
		if s.tail.bytes > 10*one {
			t.Errorf("a tail holds %d bytes", s.tail.bytes)
		}
		sum += s.tail.bytes
	}
	if sum != l.bytes || l.tails.Len() != len(l.sessions) || sum == 0 {
		t.Errorf("%d bytes counted, %d there, in %d of %d sessions", l.bytes, sum, l.tails.Len(), len(l.sessions))
	}
	l.append(t, "whale", 100) // longer than any tail
	if seqs, _ := l.numbers(t, "whale", 0); len(seqs) != 100 {
		t.Errorf("%d records of 100", len(seqs))
	}
}

func TestATailHoldsWhatIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(newFake(), Options{Age: 5 * time.Second})
		for range 300 {
			l.append(t, "s", 1)
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(l.sessions["s"].tail.records); n < 50 || n > 100 {
			t.Errorf("%d records are in memory, ten of each second", n)
		}
		if seqs, _ := l.numbers(t, "s", 0); len(seqs) != 300 {
			t.Errorf("%d records of 300", len(seqs))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestIdleTailsAndWatchersAreFreed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(newFake(), Options{Age: 10 * time.Second})
		for i := range 20 {
			l.append(t, fmt.Sprint(i), 3)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := l.tails.Len(); n < 9 || n > 11 {
			t.Errorf("%d tails are left", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				for _, err := range l.Follow(ctx, "nobody writes here", 0) {
					t.Error("follow yielded", err)
				}
			})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.bytes != 0 || l.tails.Len() != 0 || len(l.sessions) != 1 {
			t.Errorf("%d bytes in %d tails, %d sessions", l.bytes, l.tails.Len(), len(l.sessions))
		}
		cancel()
		wg.Wait()
		if len(l.sessions) != 0 {
			t.Error("a session that nobody watches is kept")
		}
		l.append(t, "s", 1) // the sweeper comes again
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(l.sessions) != 0 {
			t.Error("the sweeper didn't come back")
		}
	})
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(&closing{fake: newFake()}, Options{})
		done := make(chan error, 1)
		go func() {
			var last error
			for _, err := range l.Follow(t.Context(), "s", 0) {
				last = err
			}
			done <- last
		}()
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("follow of a closed log ended with %v", err)
		}
		w := l.Watch("s")
		defer w.Close()
		<-w.Appended() // a closed log lets nobody wait
	})
}

// closing is a fake that knows that it was closed.
type closing struct {
	*fake
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func (c *closing) After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	if c.closed {
		return func(yield func(trace.Record, error) bool) { yield(trace.Record{}, ErrClosed) }
	}
	return c.fake.After(ctx, session, after)
}

// TestLogAgreesWithStore: whatever happened before, the Log yields what the store
// has.
func TestLogAgreesWithStore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newFake()
		l := New(f, Options{
			TailRecords: rapid.IntRange(-1, 12).Draw(t, "tail records"),
			TailBytes:   rapid.IntRange(-1, 4000).Draw(t, "tail bytes"),
			TotalBytes:  rapid.IntRange(-1, 8000).Draw(t, "total bytes"),
		})
		defer l.Close()
		ctx := context.Background()
		session := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				_, _ = l.Append(ctx, session.Draw(t, "session"), "t", texts(rapid.IntRange(0, 9).Draw(t, "events")))
			},
			"fail": func(t *rapid.T) {
				f.fail = errors.New("disk full")
				_, _ = l.Append(ctx, session.Draw(t, "session"), "t", texts(rapid.IntRange(0, 9).Draw(t, "events")))
			},
			"delete": func(t *rapid.T) { _ = l.Delete(ctx, session.Draw(t, "session")) },
			"": func(t *rapid.T) {
				for _, s := range []string{"a", "b", "c"} {
					n := uint64(len(f.records[s]))
					for after := range n + 2 {
						next := after
						for r, err := range l.After(ctx, s, after) {
							if next++; err != nil || r.Seq != next {
								t.Fatalf("%s after %d: got number %d, want %d (%v)", s, after, r.Seq, next, err)
							}
						}
						if next != max(n, after) {
							t.Fatalf("%s after %d ends at %d, want %d", s, after, next, n)
						}
					}
				}
			},
		})
	})
}
