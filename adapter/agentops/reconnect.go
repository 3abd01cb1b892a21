package agentops

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// patience is how often a connection was tried in vain, and how long the next try waits.
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

// replace finds another connection for one that has failed, as long as a turn needs it: in the
// name of another who has one open, if who read is not let in any more. One that fails as
// well before anything has come of it counts as a try: else who takes connections only to
// hang up would be asked for ever.
func (s *session) replace(lost *conn, why error, p *patience) *conn {
	refused, who := map[principal]bool{}, lost.who
	for {
		refused[who] = refused[who] || isPersonal(why)
		if s.rt.Strict || isFinal(why) && !isPersonal(why) {
			break
		}
		if !s.needed() {
			return nil // the next prompt connects
		}
		if !p.wait(s.life) {
			break
		}
		c, found := s.reader(refused)
		if !found {
			break
		}
		next, err := s.again(c)
		if err == nil {
			return next
		}
		why, who = err, whoIs(c)
	}
	if s.life.Err() == nil {
		s.interrupted(why)
	}
	return nil
}

// wait waits for the next try, and reports whether there is one.
func (p *patience) wait(ctx context.Context) bool {
	p.tries++
	p.pause = min(max(2*p.pause, firstPause), answerTime)
	jitter := 0.8 + 0.4*rand.Float64() //nolint:gosec // so that clients that were cut off together do not come back together
	return p.tries <= mostRetries && rest(ctx, time.Duration(float64(p.pause)*jitter))
}

// rest waits, and reports whether ctx goes on.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// again opens a connection in the place of one that was lost, and brings what was missed.
// There is none if a prompt that came meanwhile has opened one.
func (s *session) again(c agent.Caller) (*conn, error) {
	if err := s.connecting.enter(s.life); err != nil {
		return nil, nil //nolint:nilerr,nilnil // the session was closed
	}
	defer s.connecting.leave()
	s.mu.Lock()
	taken := s.main != nil
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

// reopen opens a connection, brings what was missed, and takes it into use. The caller has
// entered s.connecting.
func (s *session) reopen(ctx context.Context, c agent.Caller, read func(*conn)) (*conn, error) {
	l, data, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	messages, err := s.backfill(ctx, c)
	if err != nil {
		l.discard()
		return nil, err
	}
	return l, s.install(l, data, messages, read)
}

// needed reports whether the session must open a lost connection again.
func (s *session) needed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != shut && (s.active != nil && !s.active.b.Over() || len(s.pendingStops) > 0 || s.dec.busy())
}

// reader tells in whose name the session is to be read: of one who has something open
// there, or of who did it before.
func (s *session) reader(refused map[principal]bool) (agent.Caller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []agent.Caller{s.last}
	for _, o := range s.pendingStops {
		all = append([]agent.Caller{o.caller}, all...)
	}
	if s.active != nil && !s.active.b.Over() {
		all = append([]agent.Caller{s.active.caller}, all...)
	}
	i := slices.IndexFunc(all, func(c agent.Caller) bool { return c.Bearer != "" && !refused[whoIs(c)] })
	if i < 0 {
		return agent.Caller{}, false
	}
	return all[i], true
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
	if s.active != nil {
		failedFor(s.active.b, streamInterrupted, why)
	}
	s.quiet()
	s.pendingStops = nil
	s.dec = s.newDecoder()
}
