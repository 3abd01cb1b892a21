package logtest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func follow(t *testing.T, s eventlog.Store) {
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	l := eventlog.New(s)
	var log []trace.Record
	add(t, l, "s", "t", &log, mixed(0, 4)...)
	var got []trace.Record
	for r, err := range l.Follow(ctx, "s", 1) {
		must(t, err)
		got = append(got, r)
		switch r.Seq {
		case 4:
			add(t, l, "s", "t", &log, delta(5))
		case 5:
			add(t, l, "s", "t", &log, mixed(6, 9)...)
		case 9:
			add(t, l, "s", "t", &log, stop(15))
		case 15:
			cancel()
		}
	}
	same(t, "records", got, log[1:])
}

// followDurable checks that a follower of durable records gets each of them once and is not
// woken by what is ephemeral.
func followDurable(t *testing.T, s eventlog.Store) {
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	l := eventlog.New(s)
	var log []trace.Record
	add(t, l, "s", "t", &log, mixed(0, 4)...)
	var got []trace.Record
	for r, err := range l.FollowDurable(ctx, "s", 1) {
		must(t, err)
		got = append(got, r)
		switch r.Seq {
		case 4:
			kept, woken := make(chan struct{}, 1), make(chan struct{}, 1)
			leave, stop := l.Watch("s", true, kept), l.Watch("s", false, woken)
			add(t, l, "s", "t", &log, delta(5), delta(6))
			<-woken
			select {
			case <-kept:
				t.Error("ephemeral records woke a reader of durable records")
			default:
			}
			add(t, l, "s", "t", &log, mixed(7, 9)...)
			<-kept
			leave()
			stop()
		case 15:
			add(t, l, "s", "t", &log, delta(16), stop(17))
		case 17:
			cancel()
		}
	}
	same(t, "records", got, durableOf(log[1:]))
}

// wakeUps plays ball between a writer and a follower: one lost wake-up and both
// wait for ever.
func wakeUps(t *testing.T, s eventlog.Store) {
	const rounds = 400
	ctx, cancel := context.WithCancel(bounded(t))
	l := eventlog.New(s)
	seen := make(chan uint64)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(seen)
		for r, err := range l.Follow(ctx, "s", 0) {
			if err != nil {
				t.Error(err)
				return
			}
			seen <- r.Seq
		}
	})
	for i := range rounds {
		last, err := l.Append(ctx, "s", "t", mixed(i, 1))
		must(t, err)
		if got := <-seen; got != last {
			t.Fatalf("round %d: the follower saw %d, want %d", i, got, last)
		}
	}
	cancel()
	wg.Wait()
}

// manyFollowers checks that readers that begin anywhere, at any time, see every
// record exactly once and in order.
func manyFollowers(t *testing.T, s eventlog.Store) {
	const followers, total, batch = 24, 300, 3
	ctx := bounded(t)
	l := eventlog.New(s)
	var wg sync.WaitGroup
	start := func(i int, seq iter.Seq2[trace.Record, error], after uint64) {
		wg.Go(func() {
			for r, err := range seq {
				if err != nil || r.Seq != after+1 || r.ID != fmt.Sprintf("e%d", r.Seq) {
					t.Errorf("follower %d got %s with number %d after %d, error %v", i, r.ID, r.Seq, after, err)
					return
				}
				if after = r.Seq; after == total {
					return
				}
			}
			t.Errorf("follower %d ended after %d", i, after)
		})
	}
	for i := 1; i <= total; i += batch {
		if k := i / batch; k%4 == 0 {
			after := uint64(i * (k % 3) / 3)
			start(k/4, l.Follow(ctx, "s", after), after)
		}
		_, err := l.Append(ctx, "s", "t", mixed(i, batch))
		must(t, err)
	}
	wg.Wait()
}
