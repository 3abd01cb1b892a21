package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/workspace"
)

// This file opens and closes the agent of a session.

var errNotReady = errors.New("the agent did not become ready within")

// opened is an agent that runs; its address tells it from the one that is opened
// after it.
type opened struct{ agent.Session }

// openAgent returns the session's agent for a turn of the person by, and opens the agent
// if need be. If the turn must wait until another agent is idle, openAgent calls full.
func (l *activeSession) openAgent(ctx context.Context, by string, full func(reason string)) (*opened, error) {
	l.agentMu.Lock()
	defer l.agentMu.Unlock()
	l.mu.Lock()
	info := l.info
	l.mu.Unlock()
	a, ok := l.hub.Agents[info.Agent]
	if ok && !a.InProcess {
		if err := l.hub.agents.reserve(ctx, l, by, l.hub.Now, full); err != nil {
			return nil, err
		}
	}
	if s := l.openedAgent(); s != nil {
		return s, nil
	}
	if !ok {
		return nil, fmt.Errorf("the agent %q of this session is not configured any more", info.Agent)
	}
	files, leave, err := l.hub.dirs.enter(a.Cwd)
	if err != nil {
		l.hub.agents.release(l)
		return nil, err
	}
	l.enterFiles(files, leave)
	opening, cancel := context.WithTimeoutCause(ctx, l.hub.IdleLimit, errNotReady)
	defer cancel()
	began, err := a.Runtime.Open(opening, host{l}, agent.Config{
		SessionID: l.id, Cwd: a.Cwd, Resume: info.Resume, Model: cmp.Or(info.Model, a.Model), Mode: info.Mode, Options: a.Options, OpenTurns: l.openTurnsForAgent(),
		StateDir: l.hub.StateDir, Logger: l.hub.Logger.With("session", l.id, "agent", info.Agent),
		Meter: func(c agent.Count) { l.hub.Meter(info.Agent, c) },
	})
	if err != nil {
		if ctx.Err() == nil && opening.Err() != nil {
			err = fmt.Errorf("%w %s: see in the gateway's log what it does", errNotReady, l.hub.IdleLimit)
		}
		l.enterFiles(workspace.Dir{}, nil)
		leave()
		l.hub.agents.release(l)
		return nil, err
	}
	s := &opened{began}
	l.mu.Lock()
	l.agent = s
	l.mu.Unlock()
	return s, nil
}

func (l *activeSession) enterFiles(files workspace.Dir, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.leaveFiles = files, leave
}

func (l *activeSession) openedAgent() *opened {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.agent
}

// keepAgent says that the agent has something to do. The caller holds l.mu.
func (l *activeSession) keepAgent() {
	stopTimer(&l.closing)
	l.hub.agents.mark(l, false, l.hub.Now())
}

// idleAgent closes the agent after a while in which nothing was asked of it.
func (l *activeSession) idleAgent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil || len(l.turns) > 0 || l.agent == nil {
		return
	}
	l.hub.agents.mark(l, true, l.hub.Now())
	stopTimer(&l.closing)
	l.closing = time.AfterFunc(l.hub.AgentIdle, func() { l.closeIfIdle() })
}

// closeIfIdle closes the agent unless it has something to do.
func (l *activeSession) closeIfIdle() bool {
	if !l.agentMu.TryLock() { // it is being opened or closed right now
		return false
	}
	defer l.agentMu.Unlock()
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
func (l *activeSession) closeAgent() {
	l.agentMu.Lock()
	defer l.agentMu.Unlock()
	l.endAgent()
}

func (l *activeSession) endAgent() {
	s := l.openedAgent()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		l.hub.Logger.Warn("agent did not close cleanly", "session", l.id, "error", err)
	}
	l.forgetAgent(s)
}

// forgetAgent drops the reference to an agent that was closed.
func (l *activeSession) forgetAgent(s *opened) {
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
		l.hub.agents.release(l)
	}
}
