package session

import (
	"context"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file is the side of a session that its agent calls.

// host is what a session gives to its agent.
type host struct{ session *activeSession }

var _ agent.Host = host{}

// Permit implements agent.Host.
func (h host) Permit(ctx context.Context, requestID string) (trace.PermissionResponse, error) {
	if answer, is := h.session.await(ctx, requestID).(trace.PermissionResponse); is {
		return answer, nil
	}
	return trace.PermissionResponse{RequestID: requestID, Outcome: trace.Canceled}, nil
}

// Ask implements agent.Host.
func (h host) Ask(ctx context.Context, questionID string) (trace.Answer, error) {
	if answer, is := h.session.await(ctx, questionID).(trace.Answer); is {
		return answer, nil
	}
	return trace.Answer{QuestionID: questionID, Outcome: trace.Canceled}, nil
}

// await waits for the answer to a request; nil if there is no such request.
func (l *activeSession) await(ctx context.Context, id string) trace.Payload {
	t, _, err := l.requested(id)
	if err != nil {
		return nil
	}
	return t.builder.Wait(ctx, id)
}

// Files implements agent.Host.
func (h host) Files() workspace.Dir {
	h.session.mu.Lock()
	defer h.session.mu.Unlock()
	return h.session.slot.files
}

// Begin implements agent.Host: a turn that nobody here asked for, or nil if the agent begins too many.
func (h host) Begin(info agent.TurnInfo) *trace.Builder {
	l := h.session
	if info.Prompt == nil && !l.mayTell(weightOfTurn, "a turn that the agent began") {
		return nil
	}
	after, err := l.newest(l.hub.ctx)
	l.mu.Lock()
	if err != nil { // the session has no record in this process
		l.hub.Logger.Error("read the log", "session", l.id, "error", err)
		after = l.info.Since
	}
	t := l.newTurn(agent.Prompt{}, after, "")
	if info.Prompt != nil {
		t.logger = l.loggerOf(t.id, info.Prompt.By, agent.Caller{})
	}
	t.agentInitiated = true
	t.state.To(turnstate.Queued)
	t.state.To(turnstate.Running)
	l.enter(t)
	l.keepAgent()
	if info.Prompt != nil {
		l.info.addChannel(info.Prompt.Channel)
		l.thread.Add(thread.Message{ID: info.Prompt.Message.ID, Turn: t.id, User: true, By: info.Prompt.By, After: after})
		t.openMessage(trace.CausePrompt, *info.Prompt)
	} else {
		t.openMessage(trace.CauseAgent)
	}
	l.mu.Unlock()
	l.hub.goes.Go(func() { t.await() })
	return t.builder
}

// await ends a turn that the agent began when the agent says so, or when it is
// silent for too long.
func (t *turn) await() {
	released := make(chan struct{})
	session := t.session.openedAgent()
	if session != nil {
		t.session.hub.goes.Go(func() { t.watch(session, released) })
	}
	select {
	case <-t.builder.Ended():
	case <-t.ctx.Done():
	}
	close(released)
	t.finish(t.verdict(t.ctx.Err()))
	t.session.releaseAgent(t)
}

// Note implements agent.Host.
func (h host) Note(p trace.Payload) { h.session.note(p) }

// Resume implements agent.Host: the token is stored the moment it is known, and before the first prompt.
func (h host) Resume(token string) {
	l := h.session
	l.mu.Lock()
	same, opening := l.info.Resume == token || l.agentStale > 0, l.slot.state == agentOpening
	if !same {
		l.info.Resume = token
	}
	if !same && opening { // noteOpening keeps it
		l.changes++
		l.opening.changes = l.changes
	}
	l.mu.Unlock()
	if !same && !opening {
		l.saveLater()
	}
}
