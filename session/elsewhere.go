package session

import (
	"context"
	"errors"
	"time"
)

// This file hears of sessions that other gateways on the same database change.

// hearAgain is the time until the next try to hear, after an error.
const hearAgain = 5 * time.Second

// hear begins to hear of other gateways, for the readers of the list, until stop is called.
func (h *Hub) hear() (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(h.ctx)
	h.goes.Go(func() {
		for ; ctx.Err() == nil; sleep(ctx, hearAgain) {
			for id, err := range h.Log.Elsewhere(ctx) {
				if err == nil {
					err = h.changedElsewhere(ctx, id)
				}
				if err != nil && ctx.Err() == nil {
					h.Logger.Warn("changes that other gateways make are missing in open lists for now", "error", err)
					break
				}
			}
		}
	})
	return stop
}

// changedElsewhere sends a session to the readers of the list as it is in the database. For
// the id "" they read the whole list again.
func (h *Hub) changedElsewhere(ctx context.Context, id string) error {
	if id == "" {
		h.board.reset()
		return nil
	}
	h.forget(id)
	info, err := h.read(ctx, id)
	switch {
	case errors.Is(err, ErrUnknownSession):
		h.board.stored(id, nil)
	case err != nil:
		return err
	default:
		s := storedSummary(info)
		h.board.stored(s.ID, &s)
	}
	return nil
}

// forget takes a session out of memory that is not in use, because what memory has of it
// is out of date.
func (h *Hub) forget(id string) {
	l := h.ifInMemory(id)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[id] == l && l.pins == 0 && l.changes == l.kept && l.resting() {
		h.release(l)
	}
}
