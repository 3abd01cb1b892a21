package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/trace"
)

// This file opens and closes the agent of a session.

var errNotReady = errors.New("the agent did not become ready within")

// openAgent returns the session's agent for a turn, and opens the agent if need be.
func (l *activeSession) openAgent(t *turn) (*agents.Opened, error) {
	ctx := t.ctx
	if !l.steadyAgent(ctx.Done()) {
		return nil, context.Cause(ctx)
	}
	if l.slot.state == agentOpen {
		defer l.mu.Unlock()
		return l.slot.agent, nil
	}
	l.slot.to(agentOpening)
	name := l.info.Agent
	l.mu.Unlock()
	began, err := l.startAgent(t, name)
	l.noteOpening()
	if err != nil {
		l.mu.Unlock()
		l.forgetAgent(nil)
		return nil, err
	}
	defer l.mu.Unlock()
	l.slot.agent = began
	l.slot.to(agentOpen)
	return began, nil
}

// startAgent waits for a place for the agent, and for what a person must decide, and starts it.
func (l *activeSession) startAgent(t *turn, name string) (*agents.Opened, error) {
	ctx := t.ctx
	a, ok := l.hub.Agents[name]
	if !ok {
		return nil, fmt.Errorf("the agent %q of this session is not configured any more", name)
	}
	if !a.InProcess {
		if err := l.hub.agents.Reserve(ctx, l, t.by, l.hub.Now, t.sayWaiting); err != nil {
			return nil, err
		}
	}
	if err := l.atHome(); err != nil {
		return nil, err
	}
	cwd, paths, err := l.workIn(ctx, a, t.sayWaiting)
	if err != nil {
		return nil, err
	}
	files, leave, err := l.hub.dirs.Enter(cwd)
	if err != nil {
		return nil, err
	}
	rule := l.hub.boxRule(name, l, cwd, paths, l.stateDir())
	if rule.Form == box.Strict && rule.User == nil { // the gateway may not be able to remove the files of another user
		if rule.Temp, err = os.MkdirTemp("", l.hub.tempPrefix()); err != nil {
			leave()
			return nil, fmt.Errorf("make a directory for temporary files of the agent: %w", err)
		}
		left := leave
		leave = func() { left(); _ = spaces.RemoveAll(rule.Temp) } // what stays, stays among temporary files
	}
	l.mu.Lock()
	l.slot.files, l.slot.leave, l.slot.cwd = files, leave, cwd
	l.mu.Unlock()
	runtime, err := t.decideSettings(a.Runtime, files)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.offers.Mode, l.offers.Model = "", "" // the agent begins with those that were chosen
	info, left := l.info, l.openTurnsForAgent()
	l.mu.Unlock()
	opening, cancel := context.WithTimeoutCause(ctx, l.hub.IdleLimit, errNotReady)
	defer cancel()
	opening = box.With(opening, rule)
	began := &agents.Opened{Logger: l.hub.Logger.With("session", l.id, "agent", name)}
	err = agents.Contain(began.Logger, func() (err error) {
		began.Session, err = runtime.Open(opening, host{l}, agent.Config{
			SessionID: l.id, Cwd: cwd, Resume: info.Resume, Model: cmp.Or(info.Model, a.Model), Mode: info.Mode, Options: a.Options, OpenTurns: left,
			StateDir: l.hub.StateDir, Box: rule, Closed: l.hub.Closed, Logger: began.Logger,
			Meter: func(c agent.Count) { l.hub.Meter(name, c) },
		})
		return err
	})
	if err == nil {
		l.moveHome()
	}
	if err != nil && ctx.Err() == nil && opening.Err() != nil {
		err = fmt.Errorf("%w %s: see in the gateway's log what it does", errNotReady, l.hub.IdleLimit)
	}
	return began, err
}

// sayWaiting tells why the agent is not opened yet.
func (t *turn) sayWaiting(reason string) {
	t.builder.Emit(trace.Status{State: trace.StateIdle, Detail: "Waiting: " + reason + "."})
}

func (l *activeSession) openedAgent() *agents.Opened {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slot.agent
}

// keepAgent says that the agent has something to do. The caller holds l.mu.
func (l *activeSession) keepAgent() {
	stopTimer(&l.closing)
	l.hub.agents.Mark(l, time.Time{})
}

// idleAgent closes the agent after a while in which nothing was asked of it.
func (l *activeSession) idleAgent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil || len(l.turns) > 0 || l.slot.state != agentOpen {
		return
	}
	l.hub.agents.Mark(l, l.hub.Now())
	stopTimer(&l.closing)
	l.closing = time.AfterFunc(l.hub.AgentIdle, func() { l.CloseIfIdle() })
}

// CloseIfIdle closes the agent unless it has something to do. It does not wait for an agent
// that is being opened or closed.
func (l *activeSession) CloseIfIdle() bool {
	l.mu.Lock()
	idle := l.running == nil && len(l.turns) == 0 && !l.slot.moving()
	if idle && l.slot.state == agentOpen {
		l.endAgent()
		return true
	}
	l.mu.Unlock()
	return idle
}

// closeAgent ends the agent's process and frees its place.
func (l *activeSession) closeAgent() {
	if l.steadyAgent(nil); l.slot.state == agentOpen {
		l.endAgent()
		return
	}
	l.mu.Unlock()
}

// endAgent closes an open agent. The caller holds l.mu, and endAgent gives it back.
func (l *activeSession) endAgent() {
	s := l.slot.agent
	l.slot.to(agentClosing)
	l.mu.Unlock()
	if err := s.Close(); err != nil {
		l.hub.Logger.Warn("agent did not close cleanly", "session", l.id, "error", err)
	}
	l.forgetAgent(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slot.to(agentClosed)
}

// forgetAgent drops an agent that was closed, or that does not stop, or nil for one that could not be
// opened. Its place is free then.
func (l *activeSession) forgetAgent(s *agents.Opened) {
	l.mu.Lock()
	if l.slot.agent != s {
		l.mu.Unlock()
		return
	}
	stopTimer(&l.closing)
	leave := l.slot.leave
	l.slot.agent, l.slot.files, l.slot.leave = nil, workspace.Dir{}, nil
	if l.slot.state != agentClosing { // else endAgent says when it is closed
		l.slot.to(agentClosed)
	}
	l.mu.Unlock()
	if leave != nil {
		leave()
	}
	l.hub.agents.Release(l)
}
