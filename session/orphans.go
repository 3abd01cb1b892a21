package session

import (
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file closes turns whose end the log did not take.

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
			_, err = h.reattach(ctx, l)
		}
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
