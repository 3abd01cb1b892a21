package agentops

import (
	"context"
	"net/http"
	"slices"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// mostVoices is how many lines are kept through which is only spoken.
const mostVoices = 8

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

// speak sends a frame through a line of the caller's own: what is said on another's
// is said in the other's name.
func (s *session) speak(ctx context.Context, c agent.Caller, data []byte) error {
	s.mu.Lock()
	l := s.lead
	s.mu.Unlock()
	if l != nil && l.who == whoIs(c) {
		return l.write(ctx, data)
	}
	l, err := s.voice(ctx, c)
	if err != nil {
		return err
	}
	return l.write(ctx, data)
}

// voice finds the caller's line, or opens one.
func (s *session) voice(ctx context.Context, c agent.Caller) (*line, error) {
	if err := s.connecting.enter(ctx); err != nil {
		return nil, err
	}
	defer s.connecting.leave()
	s.mu.Lock()
	for _, v := range s.voices {
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
	if len(s.voices) >= mostVoices {
		s.voices[0].hangUp()
		s.voices = s.voices[1:]
	}
	s.voices = append(s.voices, l)
	l.rest = time.AfterFunc(longTime, func() { s.release(l) })
	s.goes.Go(func() { s.overhear(l) })
	return l, nil
}

// release lets go of a line through which is only spoken, when its principal has had
// nothing open for a while.
func (s *session) release(l *line) {
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
	mine := func(o *ours) bool { return whoIs(o.caller) == who }
	return s.ours != nil && mine(s.ours) || slices.ContainsFunc(s.owed, mine)
}

// outlived reports whether a session is read in the name of somebody who has had nothing
// open for a while, and nothing else is, while somebody else is about to have. The caller
// holds s.mu.
func (s *session) outlived(l *line, c agent.Caller) bool {
	return l.who != whoIs(c) && !s.hasOpen(l.who) && !s.dec.busy() && time.Since(l.used) >= longTime
}

// overhear reads a line through which is only spoken. What everybody is told the
// lead has; what is wrong with what was said is told to its speaker alone.
func (s *session) overhear(l *line) {
	for {
		data, err := l.read(l.ctx)
		if err != nil {
			break
		}
		f, err := wire.Decode(wire.ToBrowser, data)
		if e, ok := f.(wire.Error); err == nil && ok && e.Message != "" && e.MessageID == "" {
			s.mu.Lock()
			s.heard(data)
			s.mu.Unlock()
		}
	}
	l.hangUp()
	l.close()
	s.mu.Lock()
	l.rest.Stop()
	for i, v := range s.voices {
		if v == l {
			s.voices = append(s.voices[:i:i], s.voices[i+1:]...)
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
