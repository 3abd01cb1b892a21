package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/workspace"
)

// fleet bounds the agents that are open at once.
type fleet struct {
	mu      sync.Mutex
	max     int
	patient time.Duration       // how long an agent may wait for its user while others need its place
	open    map[*live]time.Time // since when it had nothing to do; zero: it works
	changed chan struct{}
}

func newFleet(limit int, patient time.Duration) *fleet {
	return &fleet{max: limit, patient: patient, open: map[*live]time.Time{}, changed: make(chan struct{})}
}

// reserve takes a place for a session's agent. When there is none it closes the
// agent that has been idle longest, of those that it can close. When all of them work it tells, and waits; one
// that has only waited for its user for long enough hears that nobody answers, for
// a page that was closed must not hold a place that somebody else needs.
func (f *fleet) reserve(ctx context.Context, l *live, now func() time.Time, full func(atMost int)) error {
	for waited := false; ; waited = true {
		f.mu.Lock()
		_, has := f.open[l]
		if has || len(f.open) < f.max {
			f.open[l] = time.Time{}
			f.mu.Unlock()
			return nil
		}
		working, idle := f.sorted()
		wait := f.changed
		f.mu.Unlock()
		if slices.ContainsFunc(idle, (*live).closeIfIdle) {
			continue
		}
		if !waited {
			full(f.max)
		}
		again := time.NewTimer(f.hurry(working, now()))
		select {
		case <-wait:
			again.Stop()
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return context.Cause(ctx)
		}
	}
}

// sorted returns who works, and who does not, the longest idle first. The caller
// holds f.mu.
func (f *fleet) sorted() (working, idle []*live) {
	for l, since := range f.open {
		if since.IsZero() {
			working = append(working, l)
		} else {
			idle = append(idle, l)
		}
	}
	slices.SortFunc(idle, func(a, b *live) int { return f.open[a].Compare(f.open[b]) })
	return working, idle
}

// hurry ends the wait of the agent that has waited for its user longest, if that
// was long enough, and returns when it is time to look again.
func (f *fleet) hurry(working []*live, now time.Time) time.Duration {
	var longest *live
	var since time.Time
	for _, l := range working {
		if s := l.waitsSince(); !s.IsZero() && (longest == nil || s.Before(since)) {
			longest, since = l, s
		}
	}
	if longest == nil {
		return f.patient // who begins to wait now may be hurried then
	}
	if rest := since.Add(f.patient).Sub(now); rest > 0 {
		return rest
	}
	longest.giveUpWaiting(since)
	return f.patient
}

// mark tells whether a session's agent works now.
func (f *fleet) mark(l *live, idle bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, has := f.open[l]; !has {
		return
	}
	f.open[l] = time.Time{}
	if idle {
		f.open[l] = now
		f.wake()
	}
}

func (f *fleet) release(l *live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, l)
	f.wake()
}

func (f *fleet) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

var errNotReady = errors.New("the agent did not become ready within")

// opened is an agent that runs; its address tells it from the one that is opened
// after it.
type opened struct{ agent.Session }

// openAgent returns the session's agent, and opens it if need be; full is called
// if it has to wait for another session's agent to come to rest.
func (l *live) openAgent(ctx context.Context, full func(atMost int)) (*opened, error) {
	l.opens.Lock()
	defer l.opens.Unlock()
	if s := l.openedAgent(); s != nil {
		return s, nil
	}
	l.mu.Lock()
	info := l.info
	l.mu.Unlock()
	a, ok := l.hub.Agents[info.Agent]
	if !ok {
		return nil, fmt.Errorf("the agent %q of this session is not configured any more", info.Agent)
	}
	if !a.InProcess {
		if err := l.hub.fleet.reserve(ctx, l, l.hub.Now, full); err != nil {
			return nil, err
		}
	}
	files, leave, err := l.hub.dirs.enter(a.Cwd)
	if err != nil {
		l.hub.fleet.release(l)
		return nil, err
	}
	l.enterFiles(files, leave)
	opening, cancel := context.WithTimeoutCause(ctx, l.hub.IdleLimit, errNotReady)
	defer cancel()
	began, err := a.Runtime.Open(opening, host{l}, agent.Config{
		SessionID: l.id, Cwd: a.Cwd, Resume: info.Resume, Model: cmp.Or(info.Model, a.Model), Mode: info.Mode, Options: a.Options, Left: l.leftOpen(),
		StateDir: l.hub.StateDir, Logger: l.hub.Logger.With("session", l.id, "agent", info.Agent),
		Meter: func(c agent.Count) { l.hub.Meter(info.Agent, c) },
	})
	if err != nil {
		if ctx.Err() == nil && opening.Err() != nil {
			err = fmt.Errorf("%w %s: see in the gateway's log what it does", errNotReady, l.hub.IdleLimit)
		}
		l.enterFiles(workspace.Dir{}, nil)
		leave()
		l.hub.fleet.release(l)
		return nil, err
	}
	s := &opened{began}
	l.mu.Lock()
	l.agent = s
	l.mu.Unlock()
	return s, nil
}

func (l *live) enterFiles(files workspace.Dir, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.leaveFiles = files, leave
}

func (l *live) openedAgent() *opened {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.agent
}

// keepAgent says that the agent has something to do. The caller holds l.mu.
func (l *live) keepAgent() {
	stopTimer(&l.closing)
	l.hub.fleet.mark(l, false, l.hub.Now())
}

// idleAgent closes the agent after a while in which nothing was asked of it.
func (l *live) idleAgent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil || len(l.turns) > 0 || l.agent == nil {
		return
	}
	l.hub.fleet.mark(l, true, l.hub.Now())
	stopTimer(&l.closing)
	l.closing = time.AfterFunc(l.hub.AgentIdle, func() { l.closeIfIdle() })
}

// closeIfIdle closes the agent unless it has something to do.
func (l *live) closeIfIdle() bool {
	if !l.opens.TryLock() { // it is being opened or closed right now
		return false
	}
	defer l.opens.Unlock()
	l.mu.Lock()
	busy := l.running != nil || len(l.turns) > 0
	l.mu.Unlock()
	if busy {
		return false
	}
	l.endAgent()
	return true
}

// closeAgent ends the agent's process and frees its place.
func (l *live) closeAgent() {
	l.opens.Lock()
	defer l.opens.Unlock()
	l.endAgent()
}

func (l *live) endAgent() {
	s := l.openedAgent()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		l.hub.Logger.Warn("agent did not close cleanly", "session", l.id, "error", err)
	}
	l.forgetAgent(s)
}

// forgetAgent lets go of an agent that was closed.
func (l *live) forgetAgent(s *opened) {
	l.mu.Lock()
	mine := l.agent == s
	leave := func() {}
	if mine {
		l.agent = nil
		stopTimer(&l.closing)
		leave, l.leaveFiles = l.leaveFiles, nil
	}
	l.mu.Unlock()
	if mine {
		leave()
		l.hub.fleet.release(l)
	}
}
