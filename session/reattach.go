package session

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file goes on with turns of agents on other servers after a restart of the gateway.

// reattach has the agent go on with turns. It does not wait until the agent is reached.
func (l *activeSession) reattach(turns []*turn) {
	left := make([]agent.OpenTurn, len(turns))
	for i, t := range turns {
		left[i] = *t.openTurn
	}
	r, _ := l.hub.Agents[l.info.Agent].Runtime.(agent.Reattacher)
	for i, t := range turns { // now that the agent is opened with all of them
		l.hub.goes.Go(func() {
			t.perform(func(s agent.Session) error { return r.Reattach(t.ctx, s, left[i]) })
			l.releaseAgent(t)
		})
		t.logger.Info("a turn goes on")
	}
}

// openTurnsForAgent are the turns that an earlier process left open, and that are not over.
// The caller holds l.mu.
func (l *activeSession) openTurnsForAgent() []agent.OpenTurn {
	var all []agent.OpenTurn
	for _, ref := range l.info.Open {
		if t := l.turns[ref.ID]; t != nil && t.openTurn != nil && !t.state.Stopped() {
			all = append(all, *t.openTurn)
		}
	}
	return all
}

// openTurnFor is what the agent is to know of a turn that it goes on with, by its own names.
func openTurnFor(records []trace.Record, t *turn) *agent.OpenTurn {
	named := slices.Clone(records)
	for i, r := range named {
		if s, is := r.Payload.(trace.Step); is {
			s.NativeID = thread.Own(s.NativeID)
			named[i].Payload = s
		}
	}
	left := agent.NewOpenTurn(named)
	left.Builder, left.AgentInitiated = t.builder, t.agentInitiated
	return &left
}

// revive makes a turn of its records: one that waits for what it has asked, and has the
// agent unless that began it by itself.
func (l *activeSession) revive(ref TurnRef, records []trace.Record, layout thread.Layout) *turn {
	t := &turn{session: l, id: ref.ID, messageID: layout.Replies[len(layout.Replies)-1].ID, after: ref.After, agentInitiated: ref.AgentInitiated}
	t.begin()
	t.state.To(turnstate.Queued)
	t.state.To(turnstate.Running)
	t.builder = trace.Restore(l.hub.ctx, t.writes(), records)
	t.openTurn = openTurnFor(records, t)
	prompted := t.openTurn.Prompt != nil && !t.agentInitiated
	if prompted {
		t.by, t.channel, t.counted = t.openTurn.Prompt.By, t.openTurn.Prompt.Channel, true
		l.hub.quota.count(t.by, prompts{count: 1}) // it was let in before
	}
	t.logger = l.loggerOf(t.id, t.by, agent.Caller{})
	l.mu.Lock()
	l.turns[t.id] = t
	l.thread.SetLayout(t.id, &layout)
	if prompted && l.running == nil {
		l.running = t
	}
	l.mu.Unlock()
	t.requestsChanged(nil)
	return t
}

// survivesRestart reports whether the turn goes on when the gateway has ended.
func (t *turn) survivesRestart() bool {
	runtime := t.session.hub.Agents[t.session.info.Agent].Runtime
	if agents.OnlyWaits(t.session.hub.Logger, runtime) {
		return t.standsAt() == turnstate.Paused
	}
	_, ok := runtime.(agent.Reattacher)
	return ok
}

// detach decides that the turn goes on without this process, and reports false if another caller
// has decided its end.
func (t *turn) detach() bool {
	l := t.session
	l.mu.Lock()
	mine := t.state.To(turnstate.Detached)
	if mine {
		stopTimer(&t.subscribers.grace)
	}
	l.mu.Unlock()
	return mine
}

// leaveLog writes what there is of a detached turn, and leaves its agent.
func (t *turn) leaveLog() {
	l := t.session
	if err := t.builder.Detach(); err != nil && !ofOneSession(err) {
		t.logger.Error("turn not wholly recorded", "error", err)
	}
	l.mu.Lock()
	t.pause.stop()
	l.mu.Unlock()
	t.cancel(agent.ErrDetached)
}
