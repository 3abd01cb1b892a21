package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file goes on with turns of agents on other servers after a restart of the gateway.

// reattach takes up the open turns of a session whose agent lives elsewhere. It
// returns when they are known; that the agent is reached is not waited for. It
// reports whether there were any: then the session is in memory from now on.
func (h *Hub) reattach(ctx context.Context, l *activeSession) (settled bool, err error) {
	r, ok := h.Agents[l.info.Agent].Runtime.(agent.Reattacher)
	if !ok {
		return false, nil
	}
	var open []*turn
	for _, ref := range slices.Clone(l.info.Open) {
		records, over, lost := l.recordsOf(ctx, ref)
		if lost != nil {
			err = lost
			break
		}
		if !over && replied(records) { // else it is closed, or was never begun
			open = append(open, l.revive(ref, records)) //nolint:contextcheck // the turn outlives the start
		}
	}
	if len(open) == 0 {
		return false, err
	}
	left := make([]agent.OpenTurn, len(open))
	for i, t := range open {
		left[i] = *t.openTurn
	}
	h.mu.Lock()
	h.register(l)
	h.mu.Unlock()
	for i, t := range open { // now that the agent is opened with all of them
		h.goes.Go(func() {
			t.perform(func(s agent.Session) error { return r.Reattach(t.ctx, s, left[i]) })
			l.releaseAgent(t)
		})
		t.logger.Info("a turn goes on")
	}
	return true, err
}

// openTurnsForAgent are the turns that an earlier process left open, and that are not over.
func (l *activeSession) openTurnsForAgent() []agent.OpenTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
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
func (l *activeSession) revive(ref TurnRef, records []trace.Record) *turn {
	t := &turn{session: l, id: ref.ID, messageID: ref.MessageID, after: ref.After, agentInitiated: ref.AgentInitiated}
	t.begin()
	close(t.opened)
	t.state.To(turnstate.Queued)
	t.state.To(turnstate.Running)
	t.builder = trace.Restore(l.hub.ctx, t.writes(), records)
	prompted := false
	for _, r := range records {
		if p, is := r.Payload.(trace.Prompt); is && !prompted && !t.agentInitiated {
			prompted = true
			t.by, t.channel, t.counted = p.By, p.Channel, true
			l.hub.quota.take(p.By, -1, 0) // it was let in before
		}
		if p, is := r.Payload.(trace.Reply); is {
			t.messageID = p.MessageID
		}
	}
	t.logger = l.loggerOf(t.id, t.by, agent.Caller{})
	l.mu.Lock()
	l.turns[t.id] = t
	l.thread.Begin(t.id)
	for _, r := range records {
		l.thread.Take(t.id, r.Seq, r.Payload)
	}
	if prompted && l.running == nil {
		l.running = t
	}
	l.mu.Unlock()
	t.requestsChanged(nil)
	t.openTurn = openTurnFor(records, t)
	return t
}

// survivesRestart reports whether the turn goes on when the gateway has ended.
func (t *turn) survivesRestart() bool {
	runtime := t.session.hub.Agents[t.session.info.Agent].Runtime
	if w, ok := runtime.(agent.Waiter); ok && w.OnlyWaits() {
		t.session.mu.Lock()
		defer t.session.mu.Unlock()
		return t.state == turnstate.Paused
	}
	_, ok := runtime.(agent.Reattacher)
	return ok
}

// abandon leaves a turn that goes on on the agent's server: the turn has no stop,
// and the next start re-attaches it.
func (t *turn) abandon() {
	l := t.session
	l.mu.Lock()
	mine := t.state.To(turnstate.Detached)
	if mine {
		stopTimer(&t.grace)
	}
	l.mu.Unlock()
	if !mine {
		return
	}
	if err := t.builder.Detach(); err != nil {
		t.logger.Error("turn not wholly recorded", "error", err)
	}
	l.mu.Lock()
	t.pause.stop()
	l.mu.Unlock()
	t.cancel(agent.ErrDetached)
	l.saveLater()
	close(t.ended)
}
