package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file changes the queue of prompts for users.

// QueuedPrompt is a prompt that waits for the agent, as users see it.
type QueuedPrompt struct {
	Turn      string    `json:"turn"`
	MessageID string    `json:"message_id"`
	Text      string    `json:"text"`
	Files     int       `json:"files,omitempty"` // how many
	By        string    `json:"by,omitempty"`
	At        time.Time `json:"at"`
	// Held says that the prompt does not begin by itself: see ContinueQueue.
	Held bool `json:"held,omitempty"`
}

// QueueUser is a user who changes the queue. Users edit and promote only prompts of their
// own. An owner of the session may also remove and promote the prompts of others.
type QueueUser struct {
	By        string
	Owner     bool
	MayPermit bool // see Prompt
	// Caller is handed on with a held prompt of the user.
	Caller agent.Caller
}

// Queue lists the prompts that wait, the next one first, and the held ones before the others. Queue
// reads the prompts from the log.
func (h *Hub) Queue(ctx context.Context, session string) ([]QueuedPrompt, error) {
	return useThread(ctx, h, session, func(l *activeSession) ([]QueuedPrompt, error) {
		all := []QueuedPrompt{}
		for _, q := range l.queued() {
			r, err := l.promptRecord(ctx, q.Turn, q.MessageID)
			if err != nil {
				return nil, err
			}
			if q.Held {
				q.At = r.Time.UTC()
			}
			p, _ := r.Payload.(trace.Prompt)
			all = append(all, q.with(p.Message))
		}
		return all, nil
	})
}

// queued lists the prompts that are on record and wait, without their content. The thread is
// loaded.
func (l *activeSession) queued() (all []QueuedPrompt) {
	all = l.held()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.queue {
		if t.state == turnstate.Queued {
			all = append(all, t.inQueue())
		}
	}
	return all
}

// inQueue is the turn as an item of the queue. The caller holds activeSession.mu.
func (t *turn) inQueue() QueuedPrompt {
	return QueuedPrompt{Turn: t.id, MessageID: t.prompt.Message.ID, By: t.by, At: t.at.UTC()}
}

func (q QueuedPrompt) with(m trace.UserMessage) QueuedPrompt {
	q.Text = textOf(m)
	for _, part := range m.Parts {
		if part.Type != trace.InputText {
			q.Files++
		}
	}
	return q
}

// NewestQueued returns the turn of the newest queued prompt of a principal, or "".
func (h *Hub) NewestQueued(ctx context.Context, session, by string) (string, error) {
	return useThread(ctx, h, session, func(l *activeSession) (string, error) {
		all := l.queued()
		l.mu.Lock()
		defer l.mu.Unlock()
		id, newest := "", -1 // its place in the thread, where prompts stand as they came
		for _, q := range all {
			if at := l.thread.Find(q.MessageID); q.By == by && at > newest {
				newest, id = at, q.Turn
			}
		}
		return id, nil
	})
}

// NextQueued returns the turn of the prompt that runs next, or "".
func (h *Hub) NextQueued(ctx context.Context, session string) (string, error) {
	return useThread(ctx, h, session, func(l *activeSession) (string, error) {
		if all := l.queued(); len(all) > 0 {
			return all[0].Turn, nil
		}
		return "", nil
	})
}

// Withdraw removes a queued prompt. It stays in the history as a prompt that was not run.
func (h *Hub) Withdraw(ctx context.Context, session, id string, u QueueUser) error {
	return h.writingThread(ctx, session, func(l *activeSession) error { return l.withdraw(ctx, id, u) })
}

func (l *activeSession) withdraw(ctx context.Context, id string, u QueueUser) error {
	t, err := l.mayChange(id, u, u.Owner)
	if err != nil {
		return err
	}
	if t == nil {
		unlock, err := l.lockHistory(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		return l.dropHeld(context.WithoutCancel(ctx), []string{id})
	}
	l.mu.Lock()
	mine := t.state == turnstate.Queued && t.decideStop()
	l.mu.Unlock()
	if !mine {
		return ErrNotQueued
	}
	t.writeStop(stopped("not_run"))
	t.logger.Info("prompt withdrawn", "withdrawn_by", u.By)
	return nil
}

// WithdrawAll removes all queued prompts that the user may remove.
func (h *Hub) WithdrawAll(ctx context.Context, session string, u QueueUser) error {
	return h.writingThread(ctx, session, func(l *activeSession) error {
		for _, q := range slices.Backward(l.queued()) { // so that none of them begins meanwhile
			if q.By != u.By && !u.Owner {
				continue
			}
			if err := l.withdraw(ctx, q.Turn, u); err != nil && !errors.Is(err, ErrNotQueued) {
				return err
			}
		}
		return nil
	})
}

// Promote lets a queued prompt run now: the prompt goes to the front of the queue, and the
// running turn is ended. Other held prompts stay held.
func (h *Hub) Promote(ctx context.Context, session, id string, u QueueUser) error {
	return h.writingThread(ctx, session, func(l *activeSession) error { return l.promote(ctx, id, u) })
}

func (l *activeSession) promote(ctx context.Context, id string, u QueueUser) error {
	t, err := l.mayChange(id, u, u.Owner)
	if err != nil {
		return err
	}
	was := t
	if t == nil {
		turns, err := l.releaseHeld(ctx, Sender{By: u.By, Caller: u.Caller}, func(q QueuedPrompt) bool { return q.Turn == id })
		if err != nil || len(turns) == 0 {
			return cmp.Or(err, ErrNotQueued)
		}
		t = turns[0]
	}
	running, err := l.toFront(ctx, t)
	if was == nil && errors.Is(err, ErrNotQueued) { // it runs: the agent was free
		return nil
	}
	if err != nil {
		return err
	}
	if running != nil {
		running.finish(stopped("interrupted"))
		running.logger.Info("turn stopped", "stopped_by", u.By)
	}
	return nil
}

// toFront makes a queued prompt the next one, and returns the turn that has to make way. The
// prompt goes on record again, so that all who read the session's events hear of it.
func (l *activeSession) toFront(ctx context.Context, t *turn) (running *turn, err error) {
	unlock, message, err := l.lockPrompt(ctx, t)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l.mu.Lock()
	i := slices.Index(l.queue, t)
	if i < 0 || t.state != turnstate.Queued {
		l.mu.Unlock()
		return nil, ErrNotQueued
	}
	l.queue = slices.Insert(slices.Delete(l.queue, i, i+1), 0, t)
	if running = l.running; running != nil && running.state.Stopped() {
		running = nil // it makes way already
	}
	t.rewrite(message)
	l.mu.Unlock()
	return running, l.keepPrompt(t)
}

// EditQueued replaces the text of a queued prompt. Its files and its place in the queue stay.
// The agent gets the new text, or the edit is refused: a prompt that has begun is not edited.
func (h *Hub) EditQueued(ctx context.Context, session, id, text string, u QueueUser) (QueuedPrompt, error) {
	return writingThread(ctx, h, session, func(l *activeSession) (QueuedPrompt, error) { return l.editQueued(ctx, id, text, u) })
}

func (l *activeSession) editQueued(ctx context.Context, id, text string, u QueueUser) (QueuedPrompt, error) {
	t, err := l.mayChange(id, u, false)
	if err != nil {
		return QueuedPrompt{}, err
	}
	if t == nil {
		return l.editHeld(ctx, id, text, u)
	}
	unlock, message, err := l.lockPrompt(ctx, t)
	if err != nil {
		return QueuedPrompt{}, err
	}
	defer unlock()
	message.Parts = retexted(message.Parts, text)
	if err := l.replacePrompt(t, message, u); err != nil {
		return QueuedPrompt{}, err
	}
	if err := l.keepPrompt(t); err != nil {
		return QueuedPrompt{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.inQueue().with(message), nil
}

// lockPrompt locks the history, so that the versions of a prompt stand in the log in their
// order, and reads the newest version.
func (l *activeSession) lockPrompt(ctx context.Context, t *turn) (unlock func(), m trace.UserMessage, err error) {
	unlock, err = l.lockHistory(ctx)
	if err != nil {
		return nil, m, err
	}
	l.mu.Lock()
	q, waits := t.inQueue(), t.state == turnstate.Queued
	l.mu.Unlock()
	if err = ErrNotQueued; waits {
		m, err = l.loadPrompt(ctx, t.id, q.MessageID)
	}
	if err != nil {
		unlock()
		return nil, m, err
	}
	return unlock, m, nil
}

// keepPrompt waits until the new version of a queued prompt is on record.
func (l *activeSession) keepPrompt(t *turn) error {
	if err := t.builder.Flush(); err != nil {
		t.finish(failed(trace.ReasonLog, logFailed))
		return notLogged(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.state == turnstate.Queued {
		t.prompt.Message.Parts = nil // as in Hub.Prompt
	}
	return nil
}

// retexted are the parts of a message with another text, which stands where the first text
// stood.
func retexted(parts []trace.InputPart, text string) []trace.InputPart {
	isText := func(p trace.InputPart) bool { return p.Type == trace.InputText }
	at := max(0, slices.IndexFunc(parts, isText))
	others := slices.DeleteFunc(slices.Clone(parts), isText)
	if text == "" {
		return others
	}
	return slices.Insert(others, min(at, len(others)), trace.InputPart{Type: trace.InputText, Text: text})
}

// replacePrompt gives a queued turn another message with the same id. The message waits in
// memory until it is on record, so a turn that begins meanwhile runs with it.
func (l *activeSession) replacePrompt(t *turn, m trace.UserMessage, u QueueUser) error {
	if err := l.mayReplace(m, u); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.state != turnstate.Queued {
		return ErrNotQueued
	}
	weighs := int64(trace.ApproxSize(t.promptOf(m)))
	if err := l.hub.quota.take(t.by, prompts{bytes: weighs - t.weighs}, l.hub.Options, prompts{}); err != nil {
		return err
	}
	t.weighs = weighs
	t.rewrite(m)
	return nil
}

// mayReplace returns why a user may not send a message in the place of a queued one.
func (l *activeSession) mayReplace(m trace.UserMessage, u QueueUser) error {
	if len(m.Parts) == 0 {
		return ErrEmptyPrompt
	}
	return l.mayCommand(Prompt{Message: m, MayPermit: u.MayPermit})
}

// rewrite writes a version of a queued prompt. The caller holds activeSession.mu.
func (t *turn) rewrite(m trace.UserMessage) {
	t.prompt.Message = m
	t.builder.EmitTogether(t.promptOf(m))
}

func (t *turn) promptOf(m trace.UserMessage) trace.Prompt {
	return trace.Prompt{Message: m, By: t.by, Channel: t.channel, Traceparent: t.prompt.Caller.Traceparent}
}

// mayChange finds the turn of a queued prompt that a user may change. A held prompt has none. The
// thread is loaded.
func (l *activeSession) mayChange(id string, u QueueUser, anybodys bool) (*turn, error) {
	if q, held := l.heldPrompt(id); held {
		if q.By != u.By && !anybodys {
			return nil, ErrNotYourPrompt
		}
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[id]
	switch {
	case t == nil && !slices.ContainsFunc(l.thread.Spans(), func(s thread.Span) bool { return s.Turn == id }):
		return nil, ErrUnknownTurn
	case t == nil || t.state != turnstate.Queued:
		return nil, ErrNotQueued
	case t.by != u.By && !anybodys:
		return nil, ErrNotYourPrompt
	}
	return t, nil
}
