package authz

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file caches what the servers of agents say about access.

const (
	// foundFor and refusedFor are the lifetimes of answers: a refused caller may try again
	// sooner.
	foundFor, refusedFor = 5 * time.Second, 2 * time.Second
	// knownFor is the time for which the cache remembers that a caller had access.
	knownFor = 10 * time.Minute
	// findWithin bounds one lookup.
	findWithin = 10 * time.Second
	// maxLookups bounds the lookups that run in a pool, maxLookupsOfOne those of one caller
	// among them, and maxEntries the entries of a pool.
	maxLookups, maxLookupsOfOne, maxEntries = 32, 8, 4096
	// maxTried bounds the sessions without earlier access that one caller may try at a time:
	// a known caller may make names up, too.
	maxTried = 256
	// sweepEvery is the shortest time between two evictions from a full pool.
	sweepEvery = 100 * time.Millisecond
)

// aclCache keeps the answers of agents' servers for a moment, so that a page with its few
// requests costs one lookup. The cache holds no token.
//
// A caller whose token has given no access yet is a stranger. There may be any
// number of strangers, so they have a pool of their own: no known caller waits
// behind them.
type aclCache struct {
	mu               sync.Mutex
	of               map[lookupKey]*aclEntry
	counts           map[lookupCaller]*lookupCount
	queues           map[lookupCaller]*queue // by caller, for the servers of all agents
	strangers, known lookupPool
}

// lookupCaller is a user of an agent's sessions: the holder of a pass-through token, by its
// hash, or a principal of this gateway.
type lookupCaller struct {
	token            [sha256.Size]byte
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

// queue is the lookups of a caller that wait or run.
type queue struct {
	asking  chan struct{}
	lookups int
}

// aclEntry is an answer, once done is closed. aclCache.mu guards until, in and pool.
type aclEntry struct {
	done  chan struct{}
	until time.Time // zero while the lookup runs
	in    time.Time // the last time at which the caller had access; zero: never
	pool  *lookupPool
	found agent.Found
	err   error
}

func newACLCache() *aclCache {
	c := &aclCache{of: map[lookupKey]*aclEntry{}, counts: map[lookupCaller]*lookupCount{}, queues: map[lookupCaller]*queue{}}
	c.strangers.asking, c.known.asking = make(chan struct{}, maxLookups), make(chan struct{}, maxLookups)
	return c
}

// find asks the server, unless the cache has its answer. was reports whether the caller had
// access not long ago, also if the answer is no.
func (c *aclCache) find(ctx context.Context, k lookupKey, ask func(context.Context) (agent.Found, error)) (found agent.Found, was bool, err error) {
	c.mu.Lock()
	now := time.Now()
	one := c.of[k]
	was = one != nil && now.Sub(one.in) < knownFor
	if one == nil || !one.until.IsZero() && now.After(one.until) {
		next := &aclEntry{done: make(chan struct{}), pool: c.poolOf(k)}
		if one != nil {
			next.in = one.in
			c.remove(k, one)
		} else if !c.hasRoom(k, next.pool, now) {
			c.mu.Unlock()
			return agent.Found{}, false, refusal.TooMany("too_many_lookups", refusal.DefaultWait, "Too many sessions are being looked up: try again in a moment.")
		}
		one = next
		c.put(k, one)
		own := c.enter(k.lookupCaller)
		c.mu.Unlock()
		// Other requests wait for the answer too, so the lookup goes on if this one leaves.
		c.ask(context.WithoutCancel(ctx), k, one, own.asking, ask)
	} else {
		c.mu.Unlock()
	}
	select {
	case <-one.done:
		return one.found, was, one.err
	case <-ctx.Done():
		return agent.Found{}, was, ctx.Err()
	}
}

// ask waits first for a place among the caller's lookups, which own bounds, and then for a
// place in the caller's pool.
func (c *aclCache) ask(ctx context.Context, k lookupKey, one *aclEntry, own chan struct{}, ask func(context.Context) (agent.Found, error)) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	one.found, one.err = inTurn(ctx, own, func() (agent.Found, error) {
		return inTurn(ctx, one.pool.asking, func() (agent.Found, error) { return ask(ctx) })
	})
	now := time.Now()
	c.mu.Lock()
	c.leave(k.lookupCaller)
	c.remove(k, one)
	switch one.until = now; {
	case one.err == nil:
		one.in, one.until = now, now.Add(foundFor)
		if one.pool != &c.known && c.hasRoom(k, &c.known, now) { // else it stays in the pool of strangers
			one.pool = &c.known
		}
	case errors.Is(one.err, agent.ErrUnauthorized), errors.Is(one.err, agent.ErrNoSession), errors.Is(one.err, agent.ErrForeign):
		one.in, one.until = time.Time{}, now.Add(refusedFor)
	}
	c.put(k, one)
	c.mu.Unlock()
	close(one.done)
}

// inTurn calls do when there is a free place.
func inTurn(ctx context.Context, places chan struct{}, do func() (agent.Found, error)) (agent.Found, error) {
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
		return do()
	case <-ctx.Done():
		return agent.Found{}, errors.New("it has too many questions to answer")
	}
}

// enter counts one more lookup of a caller, and leave one less. The caller of both holds
// c.mu.
func (c *aclCache) enter(v lookupCaller) *queue {
	v.agent = ""
	q := c.queues[v]
	if q == nil {
		q = &queue{asking: make(chan struct{}, maxLookupsOfOne)}
		c.queues[v] = q
	}
	q.lookups++
	return q
}

func (c *aclCache) leave(v lookupCaller) {
	v.agent = ""
	if c.queues[v].lookups--; c.queues[v].lookups == 0 {
		delete(c.queues, v)
	}
}

// poolOf is the pool of a caller. The caller holds c.mu.
func (c *aclCache) poolOf(k lookupKey) *lookupPool {
	if n := c.counts[k.lookupCaller]; k.principal != "" || n != nil && n.in > 0 {
		return &c.known
	}
	return &c.strangers
}

// put adds an entry, and remove removes it. The caller holds c.mu.
func (c *aclCache) put(k lookupKey, one *aclEntry) {
	c.of[k] = one
	one.pool.entries++
	n := c.counts[k.lookupCaller]
	if n == nil {
		n = &lookupCount{}
		c.counts[k.lookupCaller] = n
	}
	if one.in.IsZero() {
		n.open++
	} else {
		n.in++
	}
}

func (c *aclCache) remove(k lookupKey, one *aclEntry) {
	delete(c.of, k)
	one.pool.entries--
	n := c.counts[k.lookupCaller]
	if one.in.IsZero() {
		n.open--
	} else {
		n.in--
	}
	if *n == (lookupCount{}) {
		delete(c.counts, k.lookupCaller)
	}
}

// hasRoom reports whether there is room for one more entry, after it has evicted old ones
// from a full pool. The caller holds c.mu.
func (c *aclCache) hasRoom(k lookupKey, l *lookupPool, now time.Time) bool {
	full := func() bool { return l.entries >= maxEntries }
	tried := func() bool { n := c.counts[k.lookupCaller]; return n != nil && n.open >= maxTried }
	if !full() && !tried() {
		return true
	}
	if now.Sub(l.swept) < sweepEvery {
		return false
	}
	l.swept = now
	for _, keep := range []time.Duration{knownFor, 0} { // callers who had access are evicted last
		for k, one := range c.of {
			if one.pool == l && !one.until.IsZero() && now.After(one.until) && now.Sub(one.in) >= keep {
				c.remove(k, one)
			}
		}
		if !full() { // a caller who tries too much evicts no other
			return !tried()
		}
	}
	return false
}
