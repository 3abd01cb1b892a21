package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

const (
	// foundFor is how long what the other side said is believed; who was refused may try
	// again sooner.
	foundFor, refusedFor = 5 * time.Second, 2 * time.Second
	// knownFor is how long the gateway remembers that a visitor had access.
	knownFor = 10 * time.Minute
	// findWithin bounds one question to the other side.
	findWithin = 10 * time.Second
	// mostAsking bounds the questions that are under way in a lane, mostOfOne those of one
	// visitor among them, and mostFindings what is remembered of their answers.
	mostAsking, mostOfOne, mostFindings = 32, 8, 4096
	// mostTried bounds how many sessions without earlier access one visitor may try at a
	// time: a known visitor may make names up, too.
	mostTried = 256
	// sweepEvery is how often room is looked for where there is none.
	sweepEvery = 100 * time.Millisecond
)

// findings remembers for a moment what another side said of visitors, so that a page
// with its few requests costs one question. It holds no token.
//
// A visitor whose token has given no access yet is a stranger. There may be any
// number of strangers, so they have a lane of their own: no known visitor waits
// behind them.
type findings struct {
	mu               sync.Mutex
	of               map[knock]*finding
	counts           map[visitor]*tries
	queues           map[visitor]*queue // by who it is, whichever agent's server he asks
	strangers, known lane
}

// visitor is a user of an agent's sessions: a guest, by the hash of their token, or a
// principal of this gateway.
type visitor struct {
	guest            [sha256.Size]byte
	principal, agent string
}

// knock is a visitor at a session.
type knock struct {
	visitor
	session string
}

// lane is what visitors of a kind share.
type lane struct {
	asking   chan struct{}
	findings int
	swept    time.Time // when room was made last
}

// tries counts a visitor's sessions: those with access, and those without access or
// without an answer yet.
type tries struct{ in, open int }

// queue is the questions of a visitor that wait or are under way.
type queue struct {
	asking    chan struct{}
	questions int
}

// finding is what was said, once done is closed. Of the rest, findings.mu guards what
// changes: until, in and lane.
type finding struct {
	done  chan struct{}
	until time.Time // zero while the question is under way
	in    time.Time // when the visitor was let in last; zero: he was not
	lane  *lane
	found agent.Found
	err   error
}

func newFindings() *findings {
	f := &findings{of: map[knock]*finding{}, counts: map[visitor]*tries{}, queues: map[visitor]*queue{}}
	f.strangers.asking, f.known.asking = make(chan struct{}, mostAsking), make(chan struct{}, mostAsking)
	return f
}

// find asks the other side, unless that was done just now. was reports whether the
// visitor had access not long ago, whatever the answer is now.
func (f *findings) find(ctx context.Context, k knock, ask func(context.Context) (agent.Found, error)) (found agent.Found, was bool, err error) {
	f.mu.Lock()
	now := time.Now()
	one := f.of[k]
	was = one != nil && now.Sub(one.in) < knownFor
	if one == nil || !one.until.IsZero() && now.After(one.until) {
		next := &finding{done: make(chan struct{}), lane: f.laneOf(k)}
		if one != nil {
			next.in = one.in
			f.remove(k, one)
		} else if !f.room(k, next.lane, now) {
			f.mu.Unlock()
			return agent.Found{}, false, &tooMuch{"too_many_lookups", "Too many sessions are being looked up: try again in a moment.", laterWait}
		}
		one = next
		f.put(k, one)
		own := f.enter(k.visitor)
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

// ask waits first for a place among the visitor's questions, which own bounds, and then
// for a place in the visitor's lane.
func (f *findings) ask(ctx context.Context, k knock, one *finding, own chan struct{}, ask func(context.Context) (agent.Found, error)) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	one.found, one.err = inTurn(ctx, own, func() (agent.Found, error) {
		return inTurn(ctx, one.lane.asking, func() (agent.Found, error) { return ask(ctx) })
	})
	now := time.Now()
	f.mu.Lock()
	f.leave(k.visitor)
	f.remove(k, one)
	switch one.until = now; {
	case one.err == nil:
		one.in, one.until = now, now.Add(foundFor)
		if one.lane != &f.known && f.room(k, &f.known, now) { // else it stays where it has its place
			one.lane = &f.known
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

// enter puts one more question into a visitor's queue, and leave takes one away. The caller
// holds f.mu.
func (f *findings) enter(v visitor) *queue {
	v.agent = ""
	q := f.queues[v]
	if q == nil {
		q = &queue{asking: make(chan struct{}, mostOfOne)}
		f.queues[v] = q
	}
	q.questions++
	return q
}

func (f *findings) leave(v visitor) {
	v.agent = ""
	if f.queues[v].questions--; f.queues[v].questions == 0 {
		delete(f.queues, v)
	}
}

// laneOf is the lane of a visitor. The caller holds f.mu.
func (f *findings) laneOf(k knock) *lane {
	if n := f.counts[k.visitor]; k.principal != "" || n != nil && n.in > 0 {
		return &f.known
	}
	return &f.strangers
}

// put remembers a finding, and remove forgets it. The caller holds f.mu.
func (f *findings) put(k knock, one *finding) {
	f.of[k] = one
	one.lane.findings++
	n := f.counts[k.visitor]
	if n == nil {
		n = &tries{}
		f.counts[k.visitor] = n
	}
	if one.in.IsZero() {
		n.open++
	} else {
		n.in++
	}
}

func (f *findings) remove(k knock, one *finding) {
	delete(f.of, k)
	one.lane.findings--
	n := f.counts[k.visitor]
	if one.in.IsZero() {
		n.open--
	} else {
		n.in--
	}
	if *n == (tries{}) {
		delete(f.counts, k.visitor)
	}
}

// room reports whether there is room for one more finding, once what is too old to count
// was dropped. The caller holds f.mu.
func (f *findings) room(k knock, l *lane, now time.Time) bool {
	full := func() bool { return l.findings >= mostFindings }
	tried := func() bool { n := f.counts[k.visitor]; return n != nil && n.open >= mostTried }
	if !full() && !tried() {
		return true
	}
	if now.Sub(l.swept) < sweepEvery {
		return false
	}
	l.swept = now
	for _, keep := range []time.Duration{knownFor, 0} { // who was let in is remembered for as long as there is room
		for k, one := range f.of {
			if one.lane == l && !one.until.IsZero() && now.After(one.until) && now.Sub(one.in) >= keep {
				f.remove(k, one)
			}
		}
		if !full() { // nobody is forgotten for one who tries too much
			return !tried()
		}
	}
	return false
}
