package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// appendBesideReaders checks that what readers see is always a prefix, and at
// least what had been acknowledged when they began.
func appendBesideReaders(t *testing.T, s eventlog.Store) {
	ctx := bounded(t)
	const batches, size = 60, 5
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-done:
					return
				default:
				}
				acked, err := s.Last(ctx, "s")
				if err != nil {
					t.Error(err)
					return
				}
				var seen uint64
				for r, err := range s.After(ctx, "s", 0) {
					if err != nil {
						t.Error(err)
						return
					}
					if r.Seq != seen+1 || r.ID != fmt.Sprintf("e%d", r.Seq) {
						t.Errorf("record %s with number %d came after number %d", r.ID, r.Seq, seen)
						return
					}
					seen = r.Seq
				}
				if seen < acked {
					t.Errorf("a reader saw up to %d, but %d was on record before it began", seen, acked)
					return
				}
			}
		})
	}
	for i := range batches {
		if _, err := s.Append(ctx, "s", "t", mixed(i*size+1, size)); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	readers.Wait()
	if n := len(collect(t, s.After(ctx, "s", 0))); n != batches*size {
		t.Fatalf("%d records, want %d", n, batches*size)
	}
}

// firstAppendBesideReaders checks that a reader of a session sees the first append of it
// from its beginning: durable records never without the ephemeral ones in front of them.
func firstAppendBesideReaders(t *testing.T, s eventlog.Store) {
	ctx := bounded(t)
	for i := range 60 {
		session := fmt.Sprint("s", i)
		var reader sync.WaitGroup
		reader.Go(func() {
			for seen := uint64(0); seen < 5 && !t.Failed(); {
				seen = 0
				for r, err := range s.After(ctx, session, 0) {
					if err != nil || r.Seq != seen+1 {
						t.Errorf("record %d came after number %d (%v)", r.Seq, seen, err)
						return
					}
					seen = r.Seq
				}
			}
		})
		_, err := s.Append(ctx, session, "t", mixed(1, 5))
		if err != nil {
			t.Error(err)
		}
		reader.Wait()
	}
}

// concurrentAppends checks that batches of one session never mix.
func concurrentAppends(t *testing.T, s eventlog.Store) {
	ctx := bounded(t)
	const writers, batches, size = 6, 12, 4
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for b := range batches {
				turn := fmt.Sprintf("%d/%d", w, b)
				if _, err := s.Append(ctx, "s", turn, mixed(0, size)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rs := collect(t, s.After(ctx, "s", 0))
	if len(rs) != writers*batches*size {
		t.Fatalf("%d records, want %d", len(rs), writers*batches*size)
	}
	for i, r := range rs {
		first := rs[i/size*size]
		if r.Turn != first.Turn || r.Seq != uint64(i)+1 || r.ID != fmt.Sprintf("e%d", i%size) {
			t.Fatalf("record %d is %s of turn %s with number %d, in the batch of turn %s", i, r.ID, r.Turn, r.Seq, first.Turn)
		}
	}
}

func canceled(t *testing.T, s eventlog.Store) {
	var log []trace.Record
	add(t, s, "s", "t", &log, mixed(0, 50)...)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	for _, err := range s.After(ctx, "s", 0) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("a canceled read ended with %v", err)
			}
			continue
		}
		if n++; n == 10 {
			cancel()
		}
	}
	cancel()
	if n < 10 || n > len(log) {
		t.Fatalf("a canceled read gave %d records", n)
	}
	for _, err := range s.After(ctx, "s", 0) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("a read with a canceled context yielded %v", err)
		}
	}
	if _, err := s.Append(ctx, "s", "t", mixed(0, 1)); !errors.Is(err, context.Canceled) {
		t.Fatalf("an append with a canceled context returned %v", err)
	}
	if _, err := s.Turns(ctx, "s", 0, 0); !errors.Is(err, context.Canceled) {
		t.Fatalf("turns with a canceled context returned %v", err)
	}
	if _, err := s.Get(ctx, "s"); !errors.Is(err, context.Canceled) {
		t.Fatalf("get with a canceled context returned %v", err)
	}
	add(t, s, "s", "t", &log, stop(1))
	same(t, "records", collect(t, s.After(t.Context(), "s", 0)), log)
}

func closed(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	var log []trace.Record
	add(t, s, "s", "t", &log, mixed(0, 5)...)
	must(t, s.Put(ctx, entry("s", "doc")))
	must(t, s.Close())
	must(t, s.Close())
	errs := map[string]error{}
	_, errs["append"] = s.Append(ctx, "s", "t", mixed(0, 1))
	_, errs["last"] = s.Last(ctx, "s")
	_, errs["turns"] = s.Turns(ctx, "s", 0, 0)
	_, errs["get"] = s.Get(ctx, "s")
	errs["put"] = s.Put(ctx, entry("s", ""))
	_, errs["append with"] = s.AppendWith(ctx, entry("s", ""), "t", mixed(0, 1))
	_, errs["count"] = s.Count(ctx)
	if _, all := s.Recent("s", 0); all {
		t.Error("a closed store has records in memory")
	}
	errs["delete"] = s.Delete(ctx, "s")
	for _, err := range s.After(ctx, "s", 0) {
		errs["after"] = err
	}
	for _, err := range s.Durable(ctx, "s", 0, 0) {
		errs["durable"] = err
	}
	for _, err := range s.List(ctx, eventlog.Query{}) {
		errs["list"] = err
	}
	if len(errs) != 11 {
		t.Fatalf("a closed store yields nothing instead of an error: %v", errs)
	}
	for what, err := range errs {
		if !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("%s of a closed store returned %v", what, err)
		}
	}
}

// closeBesideWork checks that closing ends appends, reads and followers, and
// that whatever was acknowledged before an error came in order.
func closeBesideWork(t *testing.T, s eventlog.Store) {
	ctx := bounded(t)
	l := eventlog.New(s)
	started := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	for w := range 3 {
		session := fmt.Sprintf("s%d", w)
		wg.Go(func() {
			for i := 1; ; i++ {
				last, err := l.Append(ctx, session, "t", mixed(i, 1))
				if err != nil {
					if !errors.Is(err, eventlog.ErrClosed) {
						t.Errorf("append beside close: %v", err)
					}
					return
				}
				if last != uint64(i) {
					t.Errorf("append %d returned %d", i, last)
				}
				if i == 20 {
					once.Do(func() { close(started) })
				}
			}
		})
		wg.Go(func() {
			for {
				for _, err := range s.After(ctx, session, 0) {
					if err != nil {
						if !errors.Is(err, eventlog.ErrClosed) {
							t.Errorf("read beside close: %v", err)
						}
						return
					}
				}
			}
		})
		wg.Go(func() {
			var last error
			for _, err := range l.Follow(ctx, session, 0) {
				last = err
			}
			if !errors.Is(last, eventlog.ErrClosed) {
				t.Errorf("follow beside close ended with %v", last)
			}
		})
	}
	<-started
	must(t, l.Close())
	wg.Wait()
}
