package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// reattach takes up the open turns of a session whose agent lives elsewhere. It
// returns when they are known; that the agent is reached is not waited for. It
// reports whether there were any: then the session is in memory from now on.
func (h *Hub) reattach(ctx context.Context, l *live) (settled bool, err error) {
	r, ok := h.Agents[l.info.Agent].Runtime.(agent.Reattacher)
	if !ok {
		return false, nil
	}
	for _, ref := range slices.Clone(l.info.Open) {
		records, over, err := l.recordsOf(ctx, ref)
		if err != nil {
			return settled, err
		}
		if over || !replied(records) { // it is closed, or was never begun
			continue
		}
		if !settled {
			settled = true
			h.mu.Lock()
			h.settle(l)
			h.mu.Unlock()
		}
		t := l.revive(ref, records) //nolint:contextcheck // the turn outlives the start
		h.goes.Go(func() {
			waiting := t.waiting()
			t.work(func(s agent.Session) error { return r.Reattach(t.ctx, s, waiting, t.builder) })
			l.rest(t)
		})
		h.Logger.Info("a turn goes on", "session", l.id, "turn", t.id)
	}
	return settled, nil
}

// revive makes a turn of its records: one that runs, and waits for what it has
// asked.
func (l *live) revive(ref TurnRef, records []trace.Record) *turn {
	t := &turn{live: l, id: ref.ID, messageID: ref.MessageID, after: ref.After, began: true, replied: true, ended: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(l.hub.ctx)
	t.builder = trace.Reopen(l.hub.ctx, t.writes(), records)
	prompted := false
	for _, r := range records {
		if p, is := r.Payload.(trace.Prompt); is && !prompted {
			prompted = true
			t.by, t.channel, t.prompt = p.By, p.Channel, agent.Prompt{Message: p.Message, By: p.By, Channel: p.Channel}
			l.hub.load.take(p.By, -1, 0) // it was let in before
		}
		if p, is := r.Payload.(trace.Reply); is {
			if p.MessageID != ref.MessageID {
				t.typed++
			}
			t.messageID = p.MessageID
		}
	}
	l.mu.Lock()
	l.turns[t.id] = t
	if prompted && l.running == nil {
		l.running = t
	}
	l.mu.Unlock()
	for _, r := range records {
		l.noticeAsk(t, r.Payload)
	}
	return t
}

// waiting lists what the turn has asked and nobody has answered.
func (t *turn) waiting() []string {
	l := t.live
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for id := range t.waits.limits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// outlives reports whether the turn goes on when the gateway has ended.
func (t *turn) outlives() bool {
	_, ok := t.live.hub.Agents[t.live.info.Agent].Runtime.(agent.Reattacher)
	return ok
}

// abandon lets go of a turn that goes on elsewhere: it has no stop, and the next
// start takes it up.
func (t *turn) abandon() {
	t.finishing.Do(func() {
		l := t.live
		l.mu.Lock()
		t.ending = true
		stopTimer(&t.grace)
		l.mu.Unlock()
		if err := t.builder.Abandon(); err != nil {
			l.hub.Logger.Error("turn not wholly recorded", "session", l.id, "turn", t.id, "error", err)
		}
		l.mu.Lock()
		t.stopWaiting() // now that nothing more is asked
		l.mu.Unlock()
		t.cancel(agent.ErrLeft)
		l.saveLate()
		close(t.ended)
	})
}
