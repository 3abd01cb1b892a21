package agentops

import (
	"context"
	"net/http"
	"slices"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// mostUserConns is how many lines are kept through which is only spoken.
const mostUserConns = 8

// send says something in the caller's name. That it was not taken is logged: there
// is nothing to be done about it.
func (s *session) send(ctx context.Context, c agent.Caller, f wire.Frame) {
	data, err := wire.Encode(f)
	if err == nil {
		err = s.speak(ctx, c, data)
	}
	if err != nil {
		s.cfg.Logger.Warn("agentops: " + f.Type() + " could not be sent: " + err.Error())
	}
}

// speak sends a frame through a connection of the caller's own: what is said on another's
// is said in the other's name.
func (s *session) speak(ctx context.Context, c agent.Caller, data []byte) error {
	s.mu.Lock()
	l := s.main
	s.mu.Unlock()
	if l != nil && l.who == whoIs(c) {
		return l.write(ctx, data)
	}
	l, err := s.userConn(ctx, c)
	if err != nil {
		return err
	}
	return l.write(ctx, data)
}

// userConn finds the caller's connection, or opens one.
func (s *session) userConn(ctx context.Context, c agent.Caller) (*conn, error) {
	if err := s.connecting.enter(ctx); err != nil {
		return nil, err
	}
	defer s.connecting.leave()
	s.mu.Lock()
	for _, v := range s.userConns {
		if v.who == whoIs(c) && v.ctx.Err() == nil {
			v.used = time.Now()
			s.mu.Unlock()
			return v, nil
		}
	}
	s.mu.Unlock()
	l, _, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		l.discard()
		return nil, errClosed
	}
	if len(s.userConns) >= mostUserConns {
		s.userConns[0].hangUp()
		s.userConns = s.userConns[1:]
	}
	s.userConns = append(s.userConns, l)
	l.rest = time.AfterFunc(longTime, func() { s.release(l) })
	s.goes.Go(func() { s.drain(l) })
	return l, nil
}

// release lets go of a connection through which is only spoken, when its principal has had
// nothing open for a while.
func (s *session) release(l *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	if s.hasOpen(l.who) {
		l.used = time.Now()
	}
	if rests := time.Since(l.used); rests < longTime {
		l.rest.Reset(longTime - rests)
		return
	}
	l.hangUp()
}

// hasOpen reports whether somebody has a turn that runs or waits. The caller holds s.mu.
func (s *session) hasOpen(who principal) bool {
	mine := func(o *activePrompt) bool { return whoIs(o.caller) == who }
	return s.active != nil && mine(s.active) || slices.ContainsFunc(s.pendingStops, mine)
}

// outlived reports whether a session is read in the name of somebody who has had nothing
// open for a while, and nothing else is, while somebody else is about to have. The caller
// holds s.mu.
func (s *session) outlived(l *conn, c agent.Caller) bool {
	return l.who != whoIs(c) && !s.hasOpen(l.who) && !s.dec.busy() && time.Since(l.used) >= longTime
}

// drain reads a connection through which is only spoken. What everybody is told the
// main connection has; what is wrong with what was said is told to its speaker alone.
func (s *session) drain(l *conn) {
	for {
		data, err := l.read(l.ctx)
		if err != nil {
			break
		}
		f, err := wire.Decode(wire.ToBrowser, data)
		if e, ok := f.(wire.Error); err == nil && ok && e.Message != "" && e.MessageID == "" {
			s.mu.Lock()
			s.receive(data)
			s.mu.Unlock()
		}
	}
	l.hangUp()
	l.close()
	s.mu.Lock()
	l.rest.Stop()
	for i, v := range s.userConns {
		if v == l {
			s.userConns = append(s.userConns[:i:i], s.userConns[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	close(l.done)
}

// userOf asks who a token is there. It is "" where the server does not say: then
// prompts are known by what they say.
func (s *session) userOf(ctx context.Context, c agent.Caller) (string, error) {
	s.mu.Lock()
	id, known := s.users[whoIs(c)]
	s.mu.Unlock()
	if known {
		return id, nil
	}
	var me struct {
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	err := s.api.call(ctx, c, http.MethodGet, pathOf("auth", "me"), nil, &me)
	switch {
	case err == nil, statusOf(err) == http.StatusNotFound, lacksRoute(err):
	case statusOf(err) == 0, statusOf(err) == http.StatusUnauthorized:
		return "", err
	default:
		return "", nil //nolint:nilerr // it does not say now: it is asked again for the next prompt
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.users) >= mostCallers {
		clear(s.users)
	}
	s.users[whoIs(c)] = me.User.ID
	return me.User.ID, nil
}
