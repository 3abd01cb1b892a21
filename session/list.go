package session

import (
	"context"
	"errors"
)

// Summary is a session in a list.
type Summary struct {
	Info
	State State
	Turn  string
}

// List returns a page of the sessions, the last changed first. The page has at most
// limit sessions that were changed before the mark (0: now). next is the mark of
// the next page, 0 if there is none. A session that changes goes to the front, so
// that who pages on may miss it there but sees none twice.
func (h *Hub) List(ctx context.Context, before int64, limit int) (sessions []Summary, next int64, err error) {
	return h.ListOf(ctx, before, limit, nil)
}

// ListOf is List of the sessions that show is true of. It must not block: it is asked
// of sessions one after another, and reads nothing of them.
func (h *Hub) ListOf(ctx context.Context, before int64, limit int, show func(id string, p People) bool) (sessions []Summary, next int64, err error) {
	ids, next := h.catalog.page(before, limit, show)
	for _, id := range ids {
		s, err := h.summary(ctx, id)
		switch {
		case errors.Is(err, ErrUnknownSession): // deleted just now
			continue
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case err != nil:
			h.Logger.Warn("a session is missing in the list", "session", id, "error", err)
			continue
		}
		sessions = append(sessions, s)
	}
	return sessions, next, nil
}

// summary does not bring the session back into memory: a list is no use of it.
func (h *Hub) summary(ctx context.Context, id string) (s Summary, err error) {
	h.mu.Lock()
	l := h.live[id]
	h.mu.Unlock()
	if l != nil {
		s.Info, s.State, s.Turn = l.view()
		return s, nil
	}
	s.State = Idle
	s.Info, err = h.read(ctx, id)
	return s, err
}

// Count tells how many sessions there are, and how many of them have a turn that
// is not over. It reads nothing.
func (h *Hub) Count() (sessions, running int) {
	h.mu.Lock()
	all := make([]*live, 0, len(h.live))
	for _, l := range h.live {
		all = append(all, l)
	}
	h.mu.Unlock()
	for _, l := range all {
		if _, _, turn := l.view(); turn != "" {
			running++
		}
	}
	return h.catalog.count(), running
}
