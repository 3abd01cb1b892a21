package session

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/session/thread"
)

// This file finds the turn that a subscriber reads.

// awaitReaders lets those who read the log of a turn have its end, if they are
// quick, before the log goes.
func (l *activeSession) awaitReaders(ctx context.Context) {
	select {
	case <-l.readers.Over():
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

// lookup finds a session in memory, and a turn of it there: one that is not over, or the last. The
// session stays there until release is called.
func (h *Hub) lookup(session, id string) (l *activeSession, t *turn, release func()) {
	h.mu.Lock()
	l = h.sessions[session]
	if l == nil {
		h.mu.Unlock()
		return nil, nil, func() {}
	}
	release = h.pin(l)
	h.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if t = l.turns[id]; t == nil && l.last != nil && l.last.id == id {
		t = l.last
	}
	return l, t, release
}

// Resumable is the turn that a client gets when it resumes: the named turn, else the
// running turn, else the last turn for some time after its end. If a
// stream of the last turn was cut, that time lasts until another turn begins.
//
// A turn that another gateway has left goes on here first, or is closed.
func (h *Hub) Resumable(ctx context.Context, session, id string) (turn Turn, ok bool, err error) {
	if h.shared && !h.refuses() {
		if _, err := h.takeUp(ctx, session); err != nil && !ofOneSession(err) && !errors.Is(err, ErrUnknownSession) {
			return Turn{}, false, err
		}
	}
	turn, err = useThread(ctx, h, session, func(l *activeSession) (Turn, error) { // the thread knows what was taken back
		var t Turn
		switch {
		case l.runsElsewhere(id):
			return t, ErrElsewhere
		case id != "":
			t, ok = l.named(id)
		default:
			t, ok = l.resumable()
		}
		if ok = ok && !(h.shared && l.isLeft(t.ID)); !ok { // nothing more comes of an orphan
			return Turn{}, nil
		}
		return l.atLastMessage(ctx, t)
	})
	return turn, ok && err == nil, err
}

func (l *activeSession) resumable() (Turn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.current(); t != nil {
		return t.handle(), true
	}
	last := l.info.Last
	if last == nil || l.thread.Removed(last.ID) || !last.Undelivered && l.hub.Now().Sub(last.EndedAt) > l.hub.Replay {
		return Turn{}, false
	}
	return Turn{Session: l.id, ID: last.ID, Agent: l.info.Agent, MessageID: last.MessageID, After: last.After}, true
}

// current is the turn that runs, or the first that waits.
func (l *activeSession) current() *turn {
	// A turn whose stop is being written is still the current one.
	if r := l.running; r != nil && l.turns[r.id] == r {
		return r
	}
	var newest *turn
	for _, t := range l.turns {
		if t.state.Began() && (newest == nil || t.id > newest.id) {
			newest = t
		}
	}
	if newest == nil && len(l.queue) > 0 {
		newest = l.queue[0]
	}
	return newest
}

// named finds a turn by its id.
func (l *activeSession) named(id string) (Turn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[id]; t != nil {
		return t.handle(), true
	}
	if m, ok := l.thread.AnswerOf(id); ok {
		return l.over(m), true
	}
	return Turn{}, false
}

// over is the turn of an answer that is not in memory. The caller holds l.mu.
func (l *activeSession) over(m thread.Message) Turn {
	return Turn{Session: l.id, ID: m.Turn, Agent: l.info.Agent, MessageID: m.ID, After: m.After}
}
