package agentops

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"

	"github.com/tributary-dev/tributary/agent"
)

// conn is an open main connection.
type conn struct {
	*socket
	caller agent.Caller
	ctx    context.Context //nolint:containedctx // ends with the connection
	hangUp context.CancelFunc
	done   chan struct{} // closed when nobody reads it any more
	used   time.Time     // when its principal last had something open; guarded by session.mu
}

// drop ends a connection that nobody reads.
func (l *conn) drop() {
	l.hangUp()
	l.conn.Cut()
	close(l.done)
}

// greetings is how many frames may come before the one that must be the first.
const greetings = 16

// open connects and waits for the first frame, which tells the state of the session.
func (s *session) open(ctx context.Context, c agent.Caller) (*conn, []byte, error) {
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c)
	if err == nil {
		var data []byte
		if data, err = s.greeting(ctx, sock); err == nil {
			l := &conn{socket: sock, caller: c, done: make(chan struct{}), used: time.Now()}
			l.ctx, l.hangUp = context.WithCancel(s.life) //nolint:contextcheck // it outlives the prompt that opens it
			return l, data, nil
		}
		sock.conn.Cut()
	}
	if ctx.Err() == nil {
		s.cfg.Meter.Count(agent.OpenFailure)
	}
	return nil, nil, err
}

func (s *session) greeting(ctx context.Context, sock *socket) ([]byte, error) {
	silent := &failure{sentence: "Agent Ops opened the connection and then said nothing: is the session well?"}
	ctx, cancel := context.WithTimeoutCause(ctx, s.api.timeout, silent)
	defer cancel()
	for range greetings {
		data, err := sock.read(ctx)
		if err != nil {
			return nil, err
		}
		f, _ := wire.Decode(wire.ToBrowser, data)
		if in, ok := f.(wire.Init); ok && in.Session.Messages != nil {
			return nil, &failure{sentence: fmt.Sprintf("Agent Ops at %s is older than 12 March 2026, and is not spoken to any more: update it.", s.api.host), final: true}
		} else if ok {
			return data, nil
		}
	}
	return nil, &failure{sentence: "Agent Ops opened the connection and did not say how the session stands: is the url right?", final: true}
}

// connect makes sure that the session is read: in the caller's name, if nobody reads it yet, or
// a principal who has had nothing open for a while. A goroutine reads a new connection, unless
// the caller goes on reading in place of an earlier one: then connect returns the connection, or
// nil if somebody else reads.
func (s *session) connect(ctx context.Context, c agent.Caller, inPlace bool) (*conn, error) {
	select {
	case s.connecting <- struct{}{}:
		defer func() { <-s.connecting }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	reads := s.main != nil && (inPlace || !s.outlived(s.main, c))
	backfills, since := inPlace || s.dec.busy(), time.Time{}
	if s.at.Since != 0 && !s.dec.openBeside(s.at.Prompt) { // nothing that is open is older than our newest prompt
		since = time.Unix(int64(s.at.Since)-1, 0)
	}
	s.mu.Unlock()
	if reads {
		return nil, nil //nolint:nilnil // see above
	}
	l, greeting, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	var history []wire.Message
	if backfills {
		if history, err = s.api.messages(ctx, c, s.cfg.SessionID, since); err != nil {
			l.drop()
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		l.drop()
		return nil, errClosed
	}
	if s.main != nil { // one is enough, and two would tell everything twice
		s.main.hangUp()
	}
	s.main, s.last, s.link = l, c, links.after(s.link, opened)
	s.dec.backlog = history
	s.receive(greeting)
	s.dec.missed()
	if !inPlace {
		s.goes.Go(func() { s.readLoop(l) })
	}
	return l, nil
}

// readLoop reads a connection to its end, and those that take its place.
func (s *session) readLoop(l *conn) {
	tries := backoff{}
	for l != nil {
		began, before := time.Now(), s.moves()
		err := s.listen(l)
		if s.moves() != before || time.Since(began) >= longTime {
			tries = backoff{} // it was good for something
		}
		what := broke
		if l.ctx.Err() != nil {
			what = hungUp
		}
		l.hangUp()
		l.conn.Cut()
		s.mu.Lock()
		if s.main == l {
			s.main, s.link = nil, links.after(s.link, what)
		}
		s.mu.Unlock()
		close(l.done)
		if what == hungUp {
			return
		}
		s.cfg.Logger.Warn("agentops: " + err.Error())
		l = s.replace(l, err, &tries)
	}
	s.mu.Lock()
	s.link = links.after(s.link, gaveUp)
	s.mu.Unlock()
}

// listen reads a connection until it fails.
func (s *session) listen(l *conn) error {
	for {
		data, err := l.read(l.ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.receive(data)
		s.mu.Unlock()
	}
}

// moves counts the events of turns.
func (s *session) moves() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dec.moves
}

// backoff is how often a connection was tried in vain, and the pause before the next try.
type backoff struct {
	tries int
	pause time.Duration
}

// wait waits for the next try, and reports whether there is one.
func (p *backoff) wait(ctx context.Context) bool {
	p.tries++
	p.pause = min(max(2*p.pause, firstPause), answerTime)
	jitter := 0.8 + 0.4*rand.Float64() //nolint:gosec // clients that were cut off together come back one by one
	return p.tries <= mostRetries && sleep(ctx, time.Duration(float64(p.pause)*jitter))
}

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// replace finds another connection for one that has failed, as long as a turn needs it. If the
// server does not let the reader in any more, another principal with an open turn reads. A
// connection that fails before it was good for something counts as a try. The result is nil if
// there is none, or if a prompt has opened one meanwhile.
func (s *session) replace(broken *conn, why error, tries *backoff) *conn {
	refused, who := map[principal]bool{}, broken.who
	for {
		refused[who] = refused[who] || asFailure(why).personal
		if s.rt.Strict || asFailure(why).final && !asFailure(why).personal {
			break
		}
		if !s.needed() {
			return nil // the next prompt connects
		}
		if !tries.wait(s.life) {
			break
		}
		c, found := s.reader(refused)
		if !found {
			break
		}
		next, err := s.connect(s.life, c, true)
		if err == nil || errors.Is(err, errClosed) {
			return next
		}
		why, who = err, whoIs(c)
	}
	if s.life.Err() == nil {
		s.interrupted(why)
	}
	return nil
}

// needed reports whether the session must open a lost connection again.
func (s *session) needed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != shut && (s.active != nil && !s.active.b.Over() || len(s.pendingStops) > 0 || s.dec.busy())
}

// reader chooses the caller who reads: one with an open turn, or the one who read before.
func (s *session) reader(refused map[principal]bool) (agent.Caller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []agent.Caller
	if s.active != nil && !s.active.b.Over() {
		all = append(all, s.active.caller)
	}
	for _, o := range slices.Backward(s.pendingStops) {
		all = append(all, o.caller)
	}
	all = append(all, s.last)
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
	for _, t := range s.dec.turns {
		if t.b != nil {
			fail(t.b, streamInterrupted, why)
		}
	}
	if s.active != nil {
		fail(s.active.b, streamInterrupted, why)
	}
	s.withdrawAll()
	s.pendingStops = nil
	s.dec = s.newDecoder()
	s.signal()
}

// outlived reports whether the session is read in the name of a principal who has had nothing
// open for a while, while another is about to have. The caller holds s.mu.
func (s *session) outlived(l *conn, c agent.Caller) bool {
	mine := func(o *activePrompt) bool { return whoIs(o.caller) == l.who }
	open := s.active != nil && mine(s.active) || slices.ContainsFunc(s.pendingStops, mine)
	return l.who != whoIs(c) && !open && !s.dec.busy() && time.Since(l.used) >= longTime
}

// speak sends a frame in the caller's name: through the main connection if that is the caller's,
// else through a connection for this one frame.
func (s *session) speak(ctx context.Context, c agent.Caller, f wire.Frame) error {
	data, err := wire.Encode(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	l := s.main
	s.mu.Unlock()
	if l != nil && l.who == whoIs(c) {
		return l.write(ctx, data)
	}
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c)
	if err != nil {
		return err
	}
	err = sock.write(ctx, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		sock.conn.Cut()
		return err
	}
	s.goes.Go(sock.conn.Close) // the server takes the frame before it says goodbye
	return err
}

// tell is speak for a frame whose loss can only be logged.
func (s *session) tell(ctx context.Context, c agent.Caller, f wire.Frame) {
	if err := s.speak(ctx, c, f); err != nil {
		s.cfg.Logger.Warn("agentops: " + f.Type() + " could not be sent: " + err.Error())
	}
}
