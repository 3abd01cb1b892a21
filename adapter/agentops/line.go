package agentops

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// How a lost connection is made anew: after 1 s, 2 s, 4 s and so on to 30 s, each a
// fifth more or less, ten times.
const (
	againFirst  = time.Second
	againAtMost = 30 * time.Second
	againTimes  = 10
)

// greetings is how many frames may come before the one that is to be the first.
const greetings = 16

// line is a socket that is open, with its goroutines.
type line struct {
	*socket
	caller agent.Caller
	ctx    context.Context //nolint:containedctx // ends with the line
	hangUp context.CancelFunc
	done   chan struct{} // nobody reads it any more
}

// errHungUp is the end of a line that we ended.
var errHungUp = errors.New("agentops: the connection was closed from here")

// discard ends a line that nobody reads.
func (l *line) discard() {
	l.hangUp()
	l.close()
	close(l.done)
}

// open connects and waits for the first frame, which says how things stand there.
// Whoever opens a line reads it to its end.
func (s *session) open(ctx context.Context, c agent.Caller) (*line, wire.Init, []byte, error) {
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c, subprotocols()...)
	if err == nil {
		var in wire.Init
		var data []byte
		if in, data, err = s.greeting(ctx, sock); err == nil {
			l := &line{socket: sock, caller: c, done: make(chan struct{})}
			l.ctx, l.hangUp = context.WithCancel(s.life) //nolint:contextcheck // a line outlives the prompt that opens it
			return l, in, data, nil
		}
		sock.close()
	}
	if ctx.Err() == nil {
		s.cfg.Meter.Count(agent.OpenFailure)
	}
	return nil, wire.Init{}, nil, err
}

func (s *session) greeting(ctx context.Context, sock *socket) (wire.Init, []byte, error) {
	silent := &failure{sentence: "Agent Ops opened the connection and then said nothing: is the session well?"}
	ctx, cancel := context.WithTimeoutCause(ctx, s.api.patience, silent)
	defer cancel()
	for range greetings {
		data, err := sock.read(ctx)
		if err != nil {
			return wire.Init{}, nil, err
		}
		if f, err := wire.Decode(wire.ToBrowser, data); err == nil {
			if in, ok := f.(wire.Init); ok {
				return in, data, nil
			}
		}
	}
	return wire.Init{}, nil, &failure{sentence: "Agent Ops opened the connection and did not say how the session stands: is the url right?", final: true}
}

// connect makes sure that the session is read: in the caller's name, if nobody reads
// it yet.
func (s *session) connect(ctx context.Context, c agent.Caller) error {
	if err := s.connecting.enter(ctx); err != nil {
		return err
	}
	defer s.connecting.leave()
	s.mu.Lock()
	reads, open := s.lead != nil, s.dec.busy()
	s.mu.Unlock()
	if reads {
		return nil
	}
	if open { // something of it may have been missed
		_, err := s.reopen(ctx, c, s.follow)
		return err
	}
	l, in, data, err := s.open(ctx, c)
	if err != nil {
		return err
	}
	return s.lift(l, in, data, s.follow)
}

// lift takes a new line into use.
func (s *session) lift(l *line, in wire.Init, data []byte, read func(*line)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		l.discard()
		return errClosed
	}
	if s.lead != nil { // one is enough, and two would tell everything twice
		s.lead.hangUp()
	}
	s.lead, s.last = l, l.caller
	s.mood.greeted(in)
	s.heard(data)
	s.dec.missed()
	s.goes.Go(func() { l.watch(l.ctx) })
	if read != nil {
		s.goes.Go(func() { read(l) })
	}
	return nil
}

// follow reads a line to its end, and those that come in its place.
func (s *session) follow(l *line) {
	tries := patience{}
	for l != nil {
		began, before := time.Now(), s.moves()
		err := s.listen(l)
		if s.moves() != before || time.Since(began) >= steady {
			tries = patience{} // it was good for something
		}
		if l.ctx.Err() != nil {
			err = errHungUp
		}
		l.hangUp()
		l.close()
		s.mu.Lock()
		if s.lead == l {
			s.lead = nil
		}
		s.mu.Unlock()
		close(l.done)
		if errors.Is(err, errHungUp) {
			return
		}
		s.cfg.Logger.Warn("agentops: " + err.Error())
		l = s.replace(err, &tries)
	}
}

// listen reads a line until it fails.
func (s *session) listen(l *line) error {
	for {
		data, err := l.read(l.ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.heard(data)
		s.mu.Unlock()
	}
}

// steady is how long a line lives that is as good as any, also if nothing came.
const steady = time.Minute

// patience is how often a line was made anew in vain, and how long the next try waits.
type patience struct {
	tries int
	pause time.Duration
}

// moves counts what has happened to turns.
func (s *session) moves() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dec.moves
}

// replace finds another line for one that has failed, as long as a turn needs it.
// One that fails as well before anything has come of it counts as a try: else who
// takes connections only to hang up would be asked for ever.
func (s *session) replace(why error, p *patience) *line {
	for ; p.tries < againTimes; p.tries++ {
		if s.rt.Strict || isFinal(why) {
			break
		}
		p.pause = min(max(2*p.pause, againFirst), againAtMost)
		if _, needed := s.needs(); !needed || !s.rest(jitter(p.pause)) {
			return nil // the next prompt connects
		}
		c, needed := s.needs()
		if !needed {
			return nil
		}
		next, err := s.again(c)
		if err == nil {
			p.tries++
			return next
		}
		why = err
	}
	s.interrupted(why)
	return nil
}

// jitter makes clients that were cut off together not come back together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // it is no secret
}

// rest waits, and reports whether the session is still open.
func (s *session) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.life.Done():
		return false
	}
}

// again opens a line in the place of one that was lost, and brings what was missed.
// There is none if a prompt that came meanwhile has opened one.
func (s *session) again(c agent.Caller) (*line, error) {
	if err := s.connecting.enter(s.life); err != nil {
		return nil, nil //nolint:nilerr,nilnil // the session was closed
	}
	defer s.connecting.leave()
	s.mu.Lock()
	taken := s.lead != nil
	s.mu.Unlock()
	if taken {
		return nil, nil //nolint:nilnil // see above
	}
	l, err := s.reopen(s.life, c, nil)
	if errors.Is(err, errClosed) {
		return nil, nil //nolint:nilnil // see above
	}
	return l, err
}

// reopen opens a line, brings what was missed, and takes it into use. The caller has
// entered s.connecting.
func (s *session) reopen(ctx context.Context, c agent.Caller, read func(*line)) (*line, error) {
	l, in, data, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	filled, err := s.filled(ctx, c, in, data)
	if err != nil {
		l.discard()
		return nil, err
	}
	return l, s.lift(l, in, filled, read)
}

// needs tells in whose name a lost connection is to be made anew, if a turn needs it.
func (s *session) needs() (agent.Caller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.shut:
		return agent.Caller{}, false
	case s.ours != nil && !over(s.ours.b):
		return s.ours.caller, true
	case len(s.owed) > 0:
		return s.owed[0].caller, true
	}
	return s.last, s.dec.busy()
}

// interrupted ends the turns of a connection that is lost for good.
func (s *session) interrupted(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.dec.runs {
		failedFor(r.b, streamInterrupted, why)
	}
	for _, p := range s.dec.prompts {
		if p.b != nil {
			failedFor(p.b, streamInterrupted, why)
		}
	}
	if s.ours != nil {
		failedFor(s.ours.b, streamInterrupted, why)
	}
	s.quiet()
	s.owed = nil
	s.dec = s.newDecoder()
}
