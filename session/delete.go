package session

import (
	"context"
	"fmt"
)

// This file deletes sessions.

// Delete ends a session's turns and its agent, and removes the session. A deletion that
// has begun goes on when ctx ends. After an error the session goes on. If the session's own workspace
// stays, kept says so in a sentence.
func (h *Hub) Delete(ctx context.Context, id string) (kept string, err error) {
	return writing(ctx, h, id, func(l *activeSession) (string, error) { return l.delete(ctx) })
}

func (l *activeSession) delete(ctx context.Context) (kept string, err error) {
	l.setDeleted(true)
	each(openTurns([]*activeSession{l}), (*turn).finish, stopped("deleted"))
	l.closeAgent()
	each(openTurns([]*activeSession{l}), (*turn).finish, stopped("deleted")) // what the agent began meanwhile
	l.awaitReaders(ctx)
	if kept, err = l.remove(context.WithoutCancel(ctx)); err != nil {
		l.setDeleted(false)
		return "", elsewhere(err)
	}
	l.hub.drop(l)
	l.hub.board.stored(l.id, nil)
	return kept, nil
}

func (l *activeSession) setDeleted(deleted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deleted = deleted
}

// remove removes what is stored of a session, and says what is kept.
func (l *activeSession) remove(ctx context.Context) (kept string, err error) {
	<-l.writes.Over()                                   // a document that is under way; none follows after deleted was set
	if err := l.hub.Log.Delete(ctx, l.id); err != nil { // first: a refused deletion removes nothing
		return "", fmt.Errorf("delete session %q: %w", l.id, err)
	}
	if err := l.removeState(); err != nil { // the next session of this id tries again
		l.hub.Logger.Error("files of a deleted session are left", "error", err)
	}
	return l.leaveWorkspace(ctx), nil
}

// drop takes a session out of memory that is no more.
func (h *Hub) drop(l *activeSession) {
	l.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left++
	delete(h.sessions, l.id)
	l.evicting.Stop()
}
