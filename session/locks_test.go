package session_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// All tests of the package check the order of locks. Each lock that a goroutine takes comes
// after the locks that the goroutine has. No goroutine has a mutex while it uses the store or an
// agent. The checker looks at a thousand of eight thousand locks, because the id of a goroutine
// is slow to get.
func TestMain(m *testing.M) {
	box.Enter()
	session.WatchLocks(locks.sample)
	code := m.Run()
	postgres.Stop()
	for _, w := range locks.wrong {
		fmt.Fprintln(os.Stderr, w)
		code = 1
	}
	os.Exit(code)
}

var locks = &lockOrder{held: map[string][]int{}}

// lockOrder knows which locks each goroutine has.
type lockOrder struct {
	n atomic.Uint64 // locks taken or given back so far

	mu    sync.Mutex
	round uint64 // of eight thousand
	held  map[string][]int
	wrong []string
}

// sampled reports whether the locks up to the n-th are looked at, and in which round.
func sampled(n uint64) (round uint64, yes bool) { return n >> 13, n>>10&7 == 0 }

func (o *lockOrder) sample(kind int, taken bool) {
	if round, yes := sampled(o.n.Add(1)); yes {
		o.watch(round, kind, taken)
	}
}

func (o *lockOrder) watch(round uint64, kind int, taken bool) {
	id := goroutine()
	o.mu.Lock()
	defer o.mu.Unlock()
	if round > o.round { // what was held at the end of a round is not known
		clear(o.held)
		o.round = round
	}
	held := o.held[id]
	if taken {
		if len(held) > 0 && held[len(held)-1] >= kind {
			o.report(fmt.Sprintf("a lock of the kind %d is taken after %v", kind, held))
		}
		o.held[id] = append(held, kind)
		return
	}
	if o.held[id] = slices.DeleteFunc(held, func(k int) bool { return k == kind }); len(o.held[id]) == 0 {
		delete(o.held, id)
	}
}

// free reports a mutex that the goroutine has while it does what can take long.
func (o *lockOrder) free(while string) {
	round, yes := sampled(o.n.Load())
	if !yes {
		return
	}
	id := goroutine()
	o.mu.Lock()
	defer o.mu.Unlock()
	if round != o.round {
		return
	}
	if held := o.held[id]; slices.Max(append([]int{0}, held...)) > session.Token {
		o.report(fmt.Sprintf("%s while the goroutine has the locks %v", while, held))
	}
}

// report notes a place once.
func (o *lockOrder) report(what string) {
	if len(o.wrong) < 5 {
		o.wrong = append(o.wrong, what+"\n"+string(debug.Stack()))
	}
}

// goroutine is the id of the goroutine that calls.
func goroutine() string {
	var b [64]byte
	fields := bytes.Fields(b[:runtime.Stack(b[:], false)])
	return string(fields[1])
}

// lockFree is a store whose callers have no mutex.
type lockFree struct{ eventlog.Store }

// Elsewhere implements eventlog.Shared, if the store does.
func (s *lockFree) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	if shared, is := s.Store.(eventlog.Shared); is {
		return shared.Elsewhere(ctx)
	}
	return nil
}

// Owned implements eventlog.Owner, if the store does.
func (s *lockFree) Owned(id string) uint64 {
	locks.free("the owner is asked for")
	return (&eventlog.Log{Store: s.Store}).Owned(id)
}

// Term implements eventlog.Owner, if the store does.
func (s *lockFree) Term(ctx context.Context, id string) (uint64, error) {
	locks.free("the term is read")
	return (&eventlog.Log{Store: s.Store}).Term(ctx, id)
}

// Died implements eventlog.DeathNotifier, if the store does.
func (s *lockFree) Died() <-chan struct{} { return (&eventlog.Log{Store: s.Store}).Died() }

// Among implements eventlog.Member, if the store does.
func (s *lockFree) Among() eventlog.Among { return (&eventlog.Log{Store: s.Store}).Among() }

// GiveBack implements eventlog.Owner, if the store does.
func (s *lockFree) GiveBack(left ...string) {
	(&eventlog.Log{Store: s.Store}).GiveBack(left...)
}

// LetGo implements eventlog.Owner, if the store does.
func (s *lockFree) LetGo(session string) { (&eventlog.Log{Store: s.Store}).LetGo(session) }

var _ eventlog.Member = (*lockFree)(nil)

func (s *lockFree) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	locks.free("records are written")
	return s.Store.Append(ctx, id, turn, events)
}

func (s *lockFree) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	locks.free("a document is written")
	return s.Store.AppendWith(ctx, e, turn, events)
}

func (s *lockFree) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	locks.free("records are read")
	return s.Store.Durable(ctx, id, after, until)
}

func (s *lockFree) After(ctx context.Context, id string, after uint64) iter.Seq2[trace.Record, error] {
	locks.free("all records are read")
	return s.Store.After(ctx, id, after)
}

func (s *lockFree) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	locks.free("the messages are read")
	return s.Store.Messages(ctx, id)
}

func (s *lockFree) Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnMark, error) {
	locks.free("the turns are read")
	return s.Store.Turns(ctx, id, before, limit)
}

func (s *lockFree) Last(ctx context.Context, id string) (uint64, error) {
	locks.free("the last number is read")
	return s.Store.Last(ctx, id)
}

func (s *lockFree) Get(ctx context.Context, id string) ([]byte, error) {
	locks.free("a document is read")
	return s.Store.Get(ctx, id)
}

// The checks of the other tests are worth something only if they find what is wrong.
func TestTheOrderOfLocksIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		taken []int
		wrong int
	}{
		{"in order", []int{session.Token, session.OfSession, session.OfSession + 1}, 1}, // the last check finds the mutex
		{"the token alone", []int{session.Token}, 0},
		{"the token last", []int{session.OfSession, session.Token}, 2},
		{"two sessions", []int{session.OfSession, session.OfSession}, 2},
	} {
		o := &lockOrder{held: map[string][]int{}}
		for _, k := range c.taken {
			o.watch(0, k, true)
		}
		o.free("something takes long")
		for _, k := range slices.Backward(c.taken) {
			o.watch(0, k, false)
		}
		if len(o.wrong) != c.wrong || len(o.held) != 0 {
			t.Errorf("%s: %d faults, want %d: %v", c.name, len(o.wrong), c.wrong, o.wrong)
		}
	}
}
