package agentops

import (
	"context"
	"errors"
	"fmt"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// greetings is how many frames may come before the one that is to be the first.
const greetings = 16

// conn is a socket that is open, with its goroutines.
type conn struct {
	*socket
	caller agent.Caller
	ctx    context.Context //nolint:containedctx // ends with the line
	hangUp context.CancelFunc
	done   chan struct{} // nobody reads it any more

	used time.Time   // when its principal last had something open; guarded by session.mu
	rest *time.Timer // of one through which is only spoken
}

// errHungUp is the end of a connection that we ended.
var errHungUp = errors.New("agentops: the connection was closed from here")

// discard ends a connection that nobody reads.
func (l *conn) discard() {
	l.hangUp()
	l.close()
	close(l.done)
}

// open connects and waits for the first frame, which says how things stand there.
// Whoever opens a connection reads it to its end.
func (s *session) open(ctx context.Context, c agent.Caller) (*conn, []byte, error) {
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c, subprotocols()...)
	if err == nil {
		var in wire.Init
		var data []byte
		if in, data, err = s.greeting(ctx, sock); err == nil && in.Session.Messages != nil {
			err = &failure{sentence: fmt.Sprintf("Agent Ops at %s is older than 12 March 2026, and is not spoken to any more: update it.", s.api.base.Host), final: true}
		}
		if err == nil {
			l := &conn{socket: sock, caller: c, done: make(chan struct{}), used: time.Now()}
			l.ctx, l.hangUp = context.WithCancel(s.life) //nolint:contextcheck // a line outlives the prompt that opens it
			return l, data, nil
		}
		sock.close()
	}
	if ctx.Err() == nil {
		s.cfg.Meter.Count(agent.OpenFailure)
	}
	return nil, nil, err
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

// connect makes sure that the session is read: in the caller's name, if nobody reads it
// yet, or somebody who has had nothing open for a while.
func (s *session) connect(ctx context.Context, c agent.Caller) error {
	if err := s.connecting.enter(ctx); err != nil {
		return err
	}
	defer s.connecting.leave()
	s.mu.Lock()
	reads, open := s.main != nil && !s.outlived(s.main, c), s.dec.busy()
	s.mu.Unlock()
	if reads {
		return nil
	}
	if open { // something of it may have been missed
		_, err := s.reopen(ctx, c, s.readLoop)
		return err
	}
	l, data, err := s.open(ctx, c)
	if err != nil {
		return err
	}
	return s.install(l, data, nil, s.readLoop)
}

// install takes a new connection into use. The messages are the history, if it was read.
func (s *session) install(l *conn, data []byte, messages []wire.Message, read func(*conn)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		l.discard()
		return errClosed
	}
	if s.main != nil { // one is enough, and two would tell everything twice
		s.main.hangUp()
	}
	s.main, s.last, s.link = l, l.caller, links.after(s.link, opened)
	s.dec.backlog = messages
	s.receive(data)
	s.dec.missed()
	if read != nil {
		s.goes.Go(func() { read(l) })
	}
	return nil
}

// readLoop reads a connection to its end, and those that come in its place.
func (s *session) readLoop(l *conn) {
	tries := patience{}
	for l != nil {
		began, before := time.Now(), s.moves()
		err := s.listen(l)
		if s.moves() != before || time.Since(began) >= longTime {
			tries = patience{} // it was good for something
		}
		if l.ctx.Err() != nil {
			err = errHungUp
		}
		l.hangUp()
		l.close()
		s.mu.Lock()
		what := broke
		if errors.Is(err, errHungUp) {
			what = hungUp
		}
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
