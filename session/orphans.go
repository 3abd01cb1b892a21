package session

import (
	"errors"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file closes turns whose end the log did not take, and those of gateways that have died.

// closeOrphansEvery is how often a session tries to close turns whose end the log has not taken.
const closeOrphansEvery = time.Second

// retryCloseOrphans closes the turns of the session whose end the log has not taken, as soon as it
// takes records again: nobody may prompt in this session for long. The session stays in
// memory until then, because only memory has the newest text.
func (l *activeSession) retryCloseOrphans() {
	h := l.hub
	ctx, cancel := l.during(h.ctx)
	defer cancel()
	h.mu.Lock()
	release := h.pin(l)
	h.mu.Unlock()
	defer release()
	for {
		select {
		case <-time.After(closeOrphansEvery):
		case <-ctx.Done():
			return
		}
		err := l.save(ctx) // first, because another gateway may own the session
		if err == nil {
			err = l.closeOrphans(ctx, failed(trace.ReasonLog, logFailed))
		}
		if err == nil || ofOneSession(err) { // another owner closes them, or they cannot be closed
			return
		}
	}
}

// logFailed is the sentence of a turn that the log has failed.
const logFailed = "The gateway could not write its log, so the turn was ended."

// orphansEvery is how often a gateway looks for turns of others on the database that have died. The lease of
// a dead gateway lasts 15 s longer.
const orphansEvery = 5 * time.Second

// watchOrphans goes on with the open turns of gateways that have died, or closes them. A session whose
// turns this gateway has lost itself is left to others: the store never takes records of such turns from here.
func (h *Hub) watchOrphans() {
	lost := map[string]bool{}
	for sleep(h.ctx, orphansEvery); h.ctx.Err() == nil; sleep(h.ctx, orphansEvery) {
		for e, err := range h.Log.List(h.ctx, eventlog.Query{Phases: []eventlog.Phase{eventlog.Open}}) {
			if err != nil || h.refuses() {
				break // the next look finds them
			}
			if lost[e.Session] {
				continue
			}
			taken, err := h.inherit(e)
			switch {
			case err == nil, h.ctx.Err() != nil, errors.Is(err, ErrUnknownSession):
			case ofOneSession(err):
				if taken {
					lost[e.Session] = true
				}
			default:
				h.Logger.Warn("turns of a gateway that has died are not closed yet", "session", e.Session, "error", err)
			}
		}
	}
}

// inherit takes up the open turns of a session that no living gateway owns. It reports whether it came to
// them.
func (h *Hub) inherit(e eventlog.Entry) (taken bool, err error) {
	if l := h.ifInMemory(e.Session); e.Damaged || l != nil && len(l.orphans()) == 0 && l.keepsOwning() {
		return false, nil
	}
	if term, err := h.Log.Term(h.ctx, e.Session); err != nil || term == 0 {
		return false, err // with no term, the store has no owners
	}
	l, release, err := h.session(h.ctx, e.Session)
	if err != nil {
		return false, err
	}
	defer release()
	return true, l.closeOrphans(h.ctx, restarted())
}
