package eventlog

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/trace"
)

// fake is a store without records that fails on demand.
type fake struct {
	Store
	fail   error // of appends
	closed bool
}

func (f *fake) Append(context.Context, string, string, []trace.Event) (uint64, error) {
	return 1, f.fail
}

func (f *fake) After(context.Context, string, uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		if f.closed {
			yield(trace.Record{}, ErrClosed)
		}
	}
}

func (f *fake) Close() error { f.closed = true; return nil }

func TestAFailedAppendWakesItsReaders(t *testing.T) {
	t.Parallel()
	l := New(&fake{fail: errors.New("disk full")})
	defer l.Close()
	for _, durable := range []bool{false, true} {
		woken := make(chan struct{}, 1)
		defer l.Watch("s", durable, woken)()
		defer func() {
			select {
			case <-woken:
			default:
				t.Error("a failed append, of which a part is on record, woke nobody")
			}
		}()
	}
	if _, err := l.Append(t.Context(), "s", "t", []trace.Event{{Payload: trace.MessageDelta{Delta: "text"}}}); err == nil {
		t.Fatal("the error got lost")
	}
}

func TestASessionThatNobodyWatchesCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(&fake{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				for _, err := range l.Follow(ctx, "nobody writes here", 0) {
					t.Error("follow yielded", err)
				}
			})
		}
		synctest.Wait()
		if _, err := l.Append(ctx, "s", "t", nil); err != nil {
			t.Fatal(err)
		}
		if len(l.watches) != 1 {
			t.Errorf("%d sessions are kept, and one is watched", len(l.watches))
		}
		cancel()
		wg.Wait()
		if len(l.watches) != 0 {
			t.Error("a session that nobody watches is kept")
		}
	})
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(&fake{})
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
		woken := make(chan struct{}, 1)
		defer l.Watch("s", true, woken)()
		<-woken // a closed log lets nobody wait
	})
}
