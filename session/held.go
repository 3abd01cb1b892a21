package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file holds queued prompts, until a person continues or removes them.

// A stop by a person and the end of the gateway hold the prompts that wait. Held prompts are in
// no queue in memory: the document of the session lists them, and their text is in the log. So a
// restart changes nothing about them, and each gateway of a shared log can continue them.

// hold holds the prompts that wait and are on record. The caller puts the document on record, and
// then calls endHeld for each of the turns.
func (l *activeSession) hold() (held []*turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for _, t := range slices.Clone(l.queue) {
		if t.state.To(turnstate.Held) {
			stopTimer(&t.subscribers.grace)
			held, ids = append(held, t), append(ids, t.id)
			l.leave(t, false)
		}
	}
	l.noteHeld(ids)
	return held
}

// noteHeld says in the document that turns are held, in this order. The caller holds l.mu.
func (l *activeSession) noteHeld(turns []string) {
	if len(turns) == 0 {
		return
	}
	open := slices.DeleteFunc(slices.Clone(l.info.Open), func(r TurnRef) bool { return slices.Contains(turns, r.ID) })
	for _, id := range turns {
		if i := slices.IndexFunc(l.info.Open, func(r TurnRef) bool { return r.ID == id }); i >= 0 {
			ref := l.info.Open[i]
			ref.Held = true
			open = append(open, ref)
		}
	}
	l.info.Open = open
	l.changes++
}

// endHeld ends what memory has of a held turn. Those who read it get its end.
func (t *turn) endHeld() {
	if err := t.builder.Detach(); err != nil && !ofOneSession(err) {
		t.logger.Error("prompt not wholly recorded", "error", err)
	}
	t.cancel(errEnded)
	t.logger.Info("prompt held")
	t.leaveReaders()
}

// holdNow is hold, and puts the document on record.
func (l *activeSession) holdNow() {
	held := l.hold()
	if len(held) == 0 {
		return
	}
	l.hub.goes.Go(func() {
		l.saveLater()
		for _, t := range held {
			t.endHeld()
		}
	})
}

// held lists the held prompts without their content. The thread is loaded.
func (l *activeSession) held() (all []QueuedPrompt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ref := range l.info.Held() {
		if i := slices.IndexFunc(l.thread.Messages, func(m thread.Message) bool { return m.Turn == ref.ID && m.User }); i >= 0 {
			m := l.thread.Messages[i]
			all = append(all, QueuedPrompt{Turn: ref.ID, MessageID: m.ID, By: m.By, Held: true})
		}
	}
	return all
}

// heldPrompt is the held prompt of a turn. The thread is loaded.
func (l *activeSession) heldPrompt(turn string) (QueuedPrompt, bool) {
	all := l.held()
	i := slices.IndexFunc(all, func(q QueuedPrompt) bool { return q.Turn == turn })
	if i < 0 {
		return QueuedPrompt{}, false
	}
	return all[i], true
}

// recall makes a turn of a held prompt, which is in no queue yet. The caller holds the history
// lock. Memory has no token of the prompt's sender, so the turn gets the token of who continues
// it, if that is the same person. The message is that of the prompt.
func (l *activeSession) recall(ctx context.Context, q QueuedPrompt, by Sender) (t *turn, m trace.UserMessage, err error) {
	r, err := l.promptRecord(ctx, q.Turn, q.MessageID)
	if err != nil {
		return nil, m, err
	}
	p, _ := r.Payload.(trace.Prompt)
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.info.Open, func(ref TurnRef) bool { return ref.ID == q.Turn && ref.Held })
	if i < 0 {
		return nil, m, ErrNotQueued
	}
	ref := l.info.Open[i]
	t = &turn{session: l, id: ref.ID, messageID: ref.MessageID, by: p.By, channel: p.Channel, at: r.Time, after: ref.After}
	t.prompt = agent.Prompt{Message: trace.UserMessage{ID: q.MessageID}, By: p.By, Channel: p.Channel, Caller: agent.Caller{Traceparent: p.Traceparent}}
	if p.By == by.By {
		t.prompt.Caller.Bearer = by.Caller.Bearer
	}
	t.logger = l.loggerOf(t.id, p.By, t.prompt.Caller)
	t.begin()                                                           //nolint:contextcheck // the turn outlives the request
	t.builder = trace.Restore(l.hub.ctx, t.writes(), []trace.Record{r}) //nolint:contextcheck // as above
	t.state.To(turnstate.Queued)
	if _, known := l.thread.Layout(t.id); !known {
		var layout thread.Layout
		layout.Take(r.Seq, p)
		l.thread.SetLayout(t.id, &layout)
	}
	t.weighs = int64(trace.ApproxSize(p))
	return t, p.Message, nil
}

// requeue puts held prompts into the queue, before those that came later. The caller holds the
// history lock.
func (l *activeSession) requeue(ctx context.Context, held []QueuedPrompt, by Sender) (turns []*turn, err error) {
	l.mu.Lock()
	err = l.refusal()
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, q := range held {
		t, _, err := l.recall(ctx, q, by)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	l.mu.Lock()
	for _, t := range turns { // first, so that nobody takes them for turns of an earlier process
		l.turns[t.id] = t
		t.counted = true
		l.hub.quota.count(t.by, prompts{1, t.weighs}) // it was let in before
	}
	l.mu.Unlock()
	err = l.keep(context.WithoutCancel(ctx), nil, func(i *Info) {
		i.Open = slices.Clone(i.Open)
		for n := range i.Open {
			i.Open[n].Held = i.Open[n].Held && !slices.ContainsFunc(turns, func(t *turn) bool { return t.id == i.Open[n].ID })
		}
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for _, t := range turns {
			l.leave(t, false)
		}
		return nil, elsewhere(err)
	}
	l.queue = slices.Insert(l.queue, 0, turns...)
	return turns, nil
}

// ContinueQueue lets the held prompts run, in their order and before all that came later.
func (h *Hub) ContinueQueue(ctx context.Context, session string, by Sender) error {
	return h.writingThread(ctx, session, func(l *activeSession) error {
		_, err := l.releaseHeld(ctx, by, func(QueuedPrompt) bool { return true })
		return err
	})
}

// releaseHeld puts those of the held prompts into the queue that are chosen. The thread is loaded.
func (l *activeSession) releaseHeld(ctx context.Context, by Sender, chosen func(QueuedPrompt) bool) ([]*turn, error) {
	if l.isElsewhere() {
		return nil, ErrElsewhere
	}
	if err := l.atHome(); err != nil {
		return nil, err
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	held := slices.DeleteFunc(l.held(), func(q QueuedPrompt) bool { return !chosen(q) })
	if len(held) == 0 {
		return nil, nil
	}
	turns, err := l.requeue(ctx, held, by)
	if err != nil {
		return nil, err
	}
	l.hub.Logger.Info("queue continued", "session", l.id, "prompts", len(turns), "by", by.By)
	l.startNext() //nolint:contextcheck // the turns outlive the request
	return turns, nil
}

// editHeld writes another text of a held prompt.
func (l *activeSession) editHeld(ctx context.Context, id, text string, u QueueUser) (QueuedPrompt, error) {
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return QueuedPrompt{}, err
	}
	defer unlock()
	q, held := l.heldPrompt(id)
	if !held {
		return q, ErrNotQueued
	}
	t, m, err := l.recall(ctx, q, Sender{})
	if err != nil {
		return q, err
	}
	m.Parts = retexted(m.Parts, text)
	if err := l.mayReplace(m, u); err != nil {
		return q, err
	}
	t.builder.EmitTogether(t.promptOf(m))
	if err := t.builder.Detach(); err != nil {
		return q, notLogged(err)
	}
	q.At = t.at.UTC()
	return q.with(m), nil
}

// dropHeld closes those of the turns whose prompts are held, as not run. The caller holds the
// history lock.
func (l *activeSession) dropHeld(ctx context.Context, turns []string) error {
	l.mu.Lock()
	held := slices.DeleteFunc(l.info.Held(), func(r TurnRef) bool { return !slices.Contains(turns, r.ID) })
	l.mu.Unlock()
	for _, ref := range held {
		if _, err := l.takeUpTurn(ctx, ref, stopped("not_run")); err != nil {
			return notLogged(err)
		}
	}
	return nil
}
