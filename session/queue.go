package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/session/turnstate"
)

// This file changes the queue of prompts for users.

// Withdraw removes the newest queued prompt of a principal. It reports false if the
// principal has no queued prompt.
func (h *Hub) Withdraw(ctx context.Context, session, by string) (done bool, err error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return false, err
	}
	defer release()
	l.mu.Lock()
	var newest *turn
	for _, t := range l.turns {
		if t.state.Waiting() && t.by == by && (newest == nil || t.after > newest.after) {
			newest = t
		}
	}
	l.mu.Unlock()
	return newest != nil && newest.finish(stopped("not_run")), nil
}

// Promote lets a queued prompt run now: the principal's newest, or, if they have none,
// the next in the queue. The prompt goes to the front, and the running turn is ended.
// Promote reports false if the queue is empty.
func (h *Hub) Promote(ctx context.Context, session, by string) (done bool, err error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return false, err
	}
	defer release()
	l.mu.Lock()
	t := l.promote(by)
	running := l.running
	if t != nil && running != nil && running.state.Stopped() {
		running = nil // it makes way already
	}
	l.mu.Unlock()
	if t == nil {
		return false, nil
	}
	if running != nil {
		running.finish(stopped("interrupted"))
		running.logger.Info("turn stopped", "stopped_by", by)
	}
	return true, nil
}

// promote puts a turn that waits first in line. The caller holds l.mu.
func (l *activeSession) promote(by string) *turn {
	at := -1
	for i, t := range l.queue {
		switch {
		case t.state != turnstate.Queued:
		case at < 0, t.by == by && (l.queue[at].by != by || t.after > l.queue[at].after): // one that was promoted stands before newer ones
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	t := l.queue[at]
	l.queue = slices.Insert(slices.Delete(l.queue, at, at+1), 0, t)
	return t
}
