package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/session/lockorder"
)

// Pool bounds the agents that are open at once, and shares them out. Each person has at
// most a share of the places, and waiting people get a place in turn.
type Pool struct {
	mu           lockorder.Mutex
	max          int
	share        int               // places of one person
	reclaimAfter time.Duration     // how long an agent may wait for its user while others need its place
	open         map[Holder]place  // by session
	queue        []*waiter         // in the order in which they came
	served       map[string]uint64 // when each person last got a place
	grants       uint64
}

// Holder is a session, as the pool sees it.
type Holder interface {
	// CloseIfIdle closes the agent unless it has something to do, and reports whether it did.
	CloseIfIdle() bool
	// WaitsSince tells since when the agent has only waited for a person; zero: it does not.
	WaitsSince() time.Time
	// GiveUpWaiting ends that wait, if it is still the same.
	GiveUpWaiting(since time.Time)
}

// place is an open agent.
type place struct {
	by   string    // who opened it
	idle time.Time // since when it had nothing to do; zero: it works
}

// waiter is a turn that waits for a place.
type waiter struct {
	by   string
	wake chan struct{} // holds one
}

// NewPool returns a Pool of limit places, of which one person gets share. An agent that has waited for its
// user for reclaimAfter makes room for others.
func NewPool(limit, share int, reclaimAfter time.Duration) *Pool {
	return &Pool{max: limit, share: min(share, limit), reclaimAfter: reclaimAfter, open: map[Holder]place{}, served: map[string]uint64{}}
}

// Reserve takes a place for a session's agent, for a turn of the person by. If no place is
// free, Reserve closes the agent that has been idle longest, of those that it can close. If
// all agents work, Reserve calls full once, and waits. If an agent has waited too long for
// its user, Reserve ends that wait without an answer. A page that was closed must not hold
// a place that somebody else needs. The caller opens the agent.
func (f *Pool) Reserve(ctx context.Context, l Holder, by string, now func() time.Time, full func(reason string)) error {
	w := &waiter{by, make(chan struct{}, 1)}
	f.mu.Lock()
	f.queue = append(f.queue, w)
	f.mu.Unlock()
	defer f.leave(w)
	for told := false; ; {
		f.mu.Lock()
		_, has := f.open[l]
		atShare, next := f.owned(by) >= f.share, f.next() == w
		if has || next && len(f.open) < f.max {
			if !has {
				f.grants++
				f.served[by] = f.grants
				f.open[l] = place{by: by}
			}
			f.mu.Unlock()
			return nil
		}
		working, idle := f.others(by, atShare)
		f.mu.Unlock()
		if (atShare || next) && slices.ContainsFunc(idle, Holder.CloseIfIdle) {
			continue
		}
		if !told {
			told = true
			full(f.reason(atShare))
		}
		pause := f.reclaimAfter
		if atShare || next {
			pause = f.reclaimPaused(working, now())
		}
		select {
		case <-w.wake:
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reason says in a phrase why a turn waits.
func (f *Pool) reason(atShare bool) string {
	if atShare {
		return fmt.Sprintf("%d of your agents are at work, which is your share", f.share)
	}
	return fmt.Sprintf("%d agents are at work, which is the most that may be", f.max)
}

// leave takes a waiter out of the queue.
func (f *Pool) leave(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = slices.DeleteFunc(f.queue, func(o *waiter) bool { return o == w })
	f.wake()
	maps.DeleteFunc(f.served, func(by string, _ uint64) bool { // of people who neither have a place nor wait
		return f.owned(by) == 0 && !slices.ContainsFunc(f.queue, func(o *waiter) bool { return o.by == by })
	})
}

// next is the waiter that gets the next place. Among the people who have not used up their
// share, the one who got a place longest ago comes first. Of that person's turns, the
// oldest comes first. The caller holds f.mu.
func (f *Pool) next() *waiter {
	var next *waiter
	for _, w := range f.queue {
		if f.owned(w.by) < f.share && (next == nil || f.served[w.by] < f.served[next.by]) {
			next = w
		}
	}
	return next
}

// owned counts the places of one person. The caller holds f.mu.
func (f *Pool) owned(by string) (n int) {
	for _, p := range f.open {
		if p.by == by {
			n++
		}
	}
	return n
}

// others are the agents that can make room for somebody: those of that person only, if
// they have used up their share. They are those that work, and those that do not, the longest
// idle first. The caller holds f.mu.
func (f *Pool) others(by string, atShare bool) (working, idle []Holder) {
	for l, p := range f.open {
		switch {
		case atShare && p.by != by:
		case p.idle.IsZero():
			working = append(working, l)
		default:
			idle = append(idle, l)
		}
	}
	slices.SortFunc(idle, func(a, b Holder) int { return f.open[a].idle.Compare(f.open[b].idle) })
	return working, idle
}

// reclaimPaused ends the wait of the agent that has waited for its user longest, if that
// was long enough, and returns when it is time to look again.
func (f *Pool) reclaimPaused(working []Holder, now time.Time) time.Duration {
	var longest Holder
	var since time.Time
	for _, l := range working {
		if s := l.WaitsSince(); !s.IsZero() && (longest == nil || s.Before(since)) {
			longest, since = l, s
		}
	}
	if longest == nil {
		return f.reclaimAfter // who begins to wait now may be hurried then
	}
	if rest := since.Add(f.reclaimAfter).Sub(now); rest > 0 {
		return rest
	}
	longest.GiveUpWaiting(since)
	return f.reclaimAfter
}

// Mark tells since when a session's agent has had nothing to do; zero: it works.
func (f *Pool) Mark(l Holder, idle time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, has := f.open[l]; has {
		f.open[l] = place{p.by, idle}
		f.wake()
	}
}

// Release frees the place of a session.
func (f *Pool) Release(l Holder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, l)
	f.wake()
}

// wake lets those waiters look again who may find a place now: the next one, and those
// who wait for a place of their own share. The caller holds f.mu.
func (f *Pool) wake() {
	next := f.next()
	for _, w := range f.queue {
		if w == next || f.owned(w.by) >= f.share {
			select {
			case w.wake <- struct{}{}:
			default: // it has been woken
			}
		}
	}
}

// Counts tells how many places are taken, and how many turns wait for one.
func (f *Pool) Counts() (open, waiting int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open), len(f.queue)
}
