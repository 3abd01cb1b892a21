package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// This file bounds the agents that are open, and shares them out.

// agentPool bounds the agents that are open at once, and shares them out. Each person has at
// most a share of the places, and waiting people get a place in turn.
type agentPool struct {
	mu           mutex
	max          int
	share        int                   // places of one person
	reclaimAfter time.Duration         // how long an agent may wait for its user while others need its place
	open         map[agentHolder]place // by session
	queue        []*waiter             // in the order in which they came
	served       map[string]uint64     // when each person last got a place
	grants       uint64
}

// agentHolder is a session, as the pool sees it.
type agentHolder interface {
	// closeIfIdle closes the agent unless it has something to do, and reports whether it did.
	closeIfIdle() bool
	// waitsSince tells since when the agent has only waited for a person; zero: it does not.
	waitsSince() time.Time
	// giveUpWaiting ends that wait, if it is still the same.
	giveUpWaiting(since time.Time)
}

// place is an open agent.
type place struct {
	by   string    // who opened it
	idle time.Time // since when it had nothing to do; zero: it works
}

// waiter is a turn that waits for a place.
type waiter struct {
	session agentHolder
	by      string
	wake    chan struct{} // holds one
}

func newAgentPool(limit, share int, reclaimAfter time.Duration) *agentPool {
	return &agentPool{max: limit, share: min(share, limit), reclaimAfter: reclaimAfter, open: map[agentHolder]place{}, served: map[string]uint64{}}
}

// reserve takes a place for a session's agent, for a turn of the person by. If no place is
// free, reserve closes the agent that has been idle longest, of those that it can close. If
// all agents work, reserve calls full once, and waits. If an agent has waited too long for
// its user, reserve ends that wait without an answer. A page that was closed must not hold
// a place that somebody else needs. The caller opens the agent.
func (f *agentPool) reserve(ctx context.Context, l agentHolder, by string, now func() time.Time, full func(reason string)) error {
	w := &waiter{l, by, make(chan struct{}, 1)}
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
				f.grant(w)
			}
			f.mu.Unlock()
			return nil
		}
		working, idle := f.sorted(f.others(by, atShare))
		f.mu.Unlock()
		if (atShare || next) && slices.ContainsFunc(idle, agentHolder.closeIfIdle) {
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
		again := time.NewTimer(pause)
		select {
		case <-w.wake:
			again.Stop()
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return context.Cause(ctx)
		}
	}
}

// reason says in a phrase why a turn waits.
func (f *agentPool) reason(atShare bool) string {
	if atShare {
		return fmt.Sprintf("%d of your agents are at work, which is your share", f.share)
	}
	return fmt.Sprintf("%d agents are at work, which is the most that may be", f.max)
}

// grant gives a waiter its place. The caller holds f.mu.
func (f *agentPool) grant(w *waiter) {
	f.grants++
	f.served[w.by] = f.grants
	f.open[w.session] = place{by: w.by}
}

// leave takes a waiter out of the queue.
func (f *agentPool) leave(w *waiter) {
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
func (f *agentPool) next() *waiter {
	var next *waiter
	for _, w := range f.queue {
		if f.owned(w.by) < f.share && (next == nil || f.served[w.by] < f.served[next.by]) {
			next = w
		}
	}
	return next
}

// owned counts the places of one person. The caller holds f.mu.
func (f *agentPool) owned(by string) (n int) {
	for _, p := range f.open {
		if p.by == by {
			n++
		}
	}
	return n
}

// others are the agents that can make room for somebody: those of that person only, if
// they have used up their share. The caller holds f.mu.
func (f *agentPool) others(by string, atShare bool) (all []agentHolder) {
	for l, p := range f.open {
		if !atShare || p.by == by {
			all = append(all, l)
		}
	}
	return all
}

// sorted returns which of these work, and which do not, the longest idle first. The
// caller holds f.mu.
func (f *agentPool) sorted(all []agentHolder) (working, idle []agentHolder) {
	for _, l := range all {
		if f.open[l].idle.IsZero() {
			working = append(working, l)
		} else {
			idle = append(idle, l)
		}
	}
	slices.SortFunc(idle, func(a, b agentHolder) int { return f.open[a].idle.Compare(f.open[b].idle) })
	return working, idle
}

// reclaimPaused ends the wait of the agent that has waited for its user longest, if that
// was long enough, and returns when it is time to look again.
func (f *agentPool) reclaimPaused(working []agentHolder, now time.Time) time.Duration {
	var longest agentHolder
	var since time.Time
	for _, l := range working {
		if s := l.waitsSince(); !s.IsZero() && (longest == nil || s.Before(since)) {
			longest, since = l, s
		}
	}
	if longest == nil {
		return f.reclaimAfter // who begins to wait now may be hurried then
	}
	if rest := since.Add(f.reclaimAfter).Sub(now); rest > 0 {
		return rest
	}
	longest.giveUpWaiting(since)
	return f.reclaimAfter
}

// mark tells whether a session's agent works now.
func (f *agentPool) mark(l agentHolder, idle bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, has := f.open[l]
	if !has {
		return
	}
	p.idle = time.Time{}
	if idle {
		p.idle = now
	}
	f.open[l] = p
	f.wake()
}

func (f *agentPool) release(l agentHolder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, l)
	f.wake()
}

// wake lets those waiters look again who may find a place now: the next one, and those
// who wait for a place of their own share. The caller holds f.mu.
func (f *agentPool) wake() {
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

// counts tells how many places are taken, and how many turns wait for one.
func (f *agentPool) counts() (open, waiting int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open), len(f.queue)
}
