package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// This file caches what the servers of agents say about access.

const (
	// foundFor is how long what the other side said is believed; who was refused may try
	// again sooner.
	foundFor, refusedFor = 5 * time.Second, 2 * time.Second
	// knownFor is how long the gateway remembers that a caller had access.
	knownFor = 10 * time.Minute
	// findWithin bounds one question to the other side.
	findWithin = 10 * time.Second
	// maxLookups bounds the questions that are under way in a pool, maxLookupsOfOne those of one
	// caller among them, and maxEntries what is remembered of their answers.
	maxLookups, maxLookupsOfOne, maxEntries = 32, 8, 4096
	// maxTried bounds how many sessions without earlier access one caller may try at a
	// time: a known caller may make names up, too.
	maxTried = 256
	// sweepEvery is how often room is looked for where there is none.
	sweepEvery = 100 * time.Millisecond
)

// aclCache remembers for a moment what another side said of callers, so that a page
// with its few requests costs one question. It holds no token.
//
// A caller whose token has given no access yet is a stranger. There may be any
// number of strangers, so they have a pool of their own: no known caller waits
// behind them.
type aclCache struct {
	mu               sync.Mutex
	of               map[lookupKey]*aclEntry
	counts           map[lookupCaller]*lookupCount
	queues           map[lookupCaller]*queue // by who it is, whichever agent's server he asks
	strangers, known lookupPool
}

// lookupCaller is a user of an agent's sessions: a guest, by the hash of their token, or a
// principal of this gateway.
type lookupCaller struct {
	guest            [sha256.Size]byte
	principal, agent string
}

// lookupKey is a caller at a session.
type lookupKey struct {
	lookupCaller
	session string
}

// lookupPool is what callers of a kind share.
type lookupPool struct {
	asking  chan struct{}
	entries int
	swept   time.Time // when room was made last
}

// lookupCount counts a caller's sessions: those with access, and those without access or
// without an answer yet.
type lookupCount struct{ in, open int }

// queue is the questions of a caller that wait or are under way.
type queue struct {
	asking    chan struct{}
	questions int
}

// aclEntry is what was said, once done is closed. Of the rest, aclCache.mu guards what
// changes: until, in and pool.
type aclEntry struct {
	done  chan struct{}
	until time.Time // zero while the question is under way
	in    time.Time // when the caller was let in last; zero: they were not
	pool  *lookupPool
	found agent.Found
	err   error
}

func newACLCache() *aclCache {
	f := &aclCache{of: map[lookupKey]*aclEntry{}, counts: map[lookupCaller]*lookupCount{}, queues: map[lookupCaller]*queue{}}
	f.strangers.asking, f.known.asking = make(chan struct{}, maxLookups), make(chan struct{}, maxLookups)
	return f
}

// find asks the other side, unless that was done just now. was reports whether the
// caller had access not long ago, whatever the answer is now.
func (f *aclCache) find(ctx context.Context, k lookupKey, ask func(context.Context) (agent.Found, error)) (found agent.Found, was bool, err error) {
	f.mu.Lock()
	now := time.Now()
	one := f.of[k]
	was = one != nil && now.Sub(one.in) < knownFor
	if one == nil || !one.until.IsZero() && now.After(one.until) {
		next := &aclEntry{done: make(chan struct{}), pool: f.poolOf(k)}
		if one != nil {
			next.in = one.in
			f.remove(k, one)
		} else if !f.hasRoom(k, next.pool, now) {
			f.mu.Unlock()
			return agent.Found{}, false, &rateLimited{"too_many_lookups", "Too many sessions are being looked up: try again in a moment.", laterWait}
		}
		one = next
		f.put(k, one)
		own := f.enter(k.lookupCaller)
		f.mu.Unlock()
		// Others wait for the answer too, so it comes also if this one leaves.
		f.ask(context.WithoutCancel(ctx), k, one, own.asking, ask)
	} else {
		f.mu.Unlock()
	}
	select {
	case <-one.done:
		return one.found, was, one.err
	case <-ctx.Done():
		return agent.Found{}, was, ctx.Err()
	}
}

// ask waits first for a place among the caller's questions, which own bounds, and then
// for a place in the caller's pool.
func (f *aclCache) ask(ctx context.Context, k lookupKey, one *aclEntry, own chan struct{}, ask func(context.Context) (agent.Found, error)) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	one.found, one.err = inTurn(ctx, own, func() (agent.Found, error) {
		return inTurn(ctx, one.pool.asking, func() (agent.Found, error) { return ask(ctx) })
	})
	now := time.Now()
	f.mu.Lock()
	f.leave(k.lookupCaller)
	f.remove(k, one)
	switch one.until = now; {
	case one.err == nil:
		one.in, one.until = now, now.Add(foundFor)
		if one.pool != &f.known && f.hasRoom(k, &f.known, now) { // else it stays where it has its place
			one.pool = &f.known
		}
	case errors.Is(one.err, agent.ErrUnauthorized), errors.Is(one.err, agent.ErrNoSession), errors.Is(one.err, agent.ErrForeign):
		one.in, one.until = time.Time{}, now.Add(refusedFor)
	}
	f.put(k, one)
	f.mu.Unlock()
	close(one.done)
}

// inTurn does something when there is a place free for it.
func inTurn(ctx context.Context, places chan struct{}, do func() (agent.Found, error)) (agent.Found, error) {
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
		return do()
	case <-ctx.Done():
		return agent.Found{}, errors.New("it has too many questions to answer")
	}
}

// enter puts one more question into a caller's queue, and leave takes one away. The caller
// holds f.mu.
func (f *aclCache) enter(v lookupCaller) *queue {
	v.agent = ""
	q := f.queues[v]
	if q == nil {
		q = &queue{asking: make(chan struct{}, maxLookupsOfOne)}
		f.queues[v] = q
	}
	q.questions++
	return q
}

func (f *aclCache) leave(v lookupCaller) {
	v.agent = ""
	if f.queues[v].questions--; f.queues[v].questions == 0 {
		delete(f.queues, v)
	}
}

// poolOf is the pool of a caller. The caller holds f.mu.
func (f *aclCache) poolOf(k lookupKey) *lookupPool {
	if n := f.counts[k.lookupCaller]; k.principal != "" || n != nil && n.in > 0 {
		return &f.known
	}
	return &f.strangers
}

// put remembers a finding, and remove forgets it. The caller holds f.mu.
func (f *aclCache) put(k lookupKey, one *aclEntry) {
	f.of[k] = one
	one.pool.entries++
	n := f.counts[k.lookupCaller]
	if n == nil {
		n = &lookupCount{}
		f.counts[k.lookupCaller] = n
	}
	if one.in.IsZero() {
		n.open++
	} else {
		n.in++
	}
}

func (f *aclCache) remove(k lookupKey, one *aclEntry) {
	delete(f.of, k)
	one.pool.entries--
	n := f.counts[k.lookupCaller]
	if one.in.IsZero() {
		n.open--
	} else {
		n.in--
	}
	if *n == (lookupCount{}) {
		delete(f.counts, k.lookupCaller)
	}
}

// hasRoom reports whether there is room for one more finding, once what is too old to count
// was dropped. The caller holds f.mu.
func (f *aclCache) hasRoom(k lookupKey, l *lookupPool, now time.Time) bool {
	full := func() bool { return l.entries >= maxEntries }
	tried := func() bool { n := f.counts[k.lookupCaller]; return n != nil && n.open >= maxTried }
	if !full() && !tried() {
		return true
	}
	if now.Sub(l.swept) < sweepEvery {
		return false
	}
	l.swept = now
	for _, keep := range []time.Duration{knownFor, 0} { // who was let in is remembered for as long as there is room
		for k, one := range f.of {
			if one.pool == l && !one.until.IsZero() && now.After(one.until) && now.Sub(one.in) >= keep {
				f.remove(k, one)
			}
		}
		if !full() { // nobody is forgotten for one who tries too much
			return !tried()
		}
	}
	return false
}
