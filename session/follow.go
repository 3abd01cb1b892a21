package session

import (
	"context"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file gives subscribers the records of a turn.

// Follow yields the records of one turn with a number greater than after, as
// they come, up to and including its stop.
//
// A turn that is over has nothing to wait for. If its stop is not on record,
// because the log failed or the session was deleted, the last value is an error.
func (h *Hub) Follow(ctx context.Context, session, turn string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		reader := h.reader(Turn{Session: session, ID: turn, After: after})
		defer reader.Close()
		for {
			ended, changed := reader.hasEnded(), reader.Changed() // asked before reading, so that nothing is missed
			for r, err := range reader.Records(ctx, after) {
				if err != nil {
					yield(trace.Record{}, err)
					return
				}
				after = r.Seq
				if r.Turn != turn {
					continue
				}
				if _, over := r.Payload.(trace.Stop); !yield(r, nil) || over {
					return
				}
			}
			if ended {
				yield(trace.Record{}, ErrUnfinished)
				return
			}
			select {
			case <-changed:
			case <-reader.Ended():
			case <-ctx.Done():
				return
			}
		}
	}
}

// read counts a reader of the log until the returned function is called.
func (l *activeSession) read() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers.begin()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.readers.end()
	}
}

// awaitReaders lets those who read the log of a turn have its end, if they are
// quick, before the log goes.
func (l *activeSession) awaitReaders(ctx context.Context) {
	l.mu.Lock()
	unread := l.readers.over()
	l.mu.Unlock()
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	select {
	case <-unread:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// lookup finds a turn in memory: one that is not over, or the last. The session
// stays there until release is called.
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
	if t := l.turns[id]; t != nil {
		return l, t, release
	}
	if l.last != nil && l.last.id == id {
		return l, l.last, release
	}
	return l, nil, release
}

// Resumable is the turn that a client gets when it resumes: the named turn, else the
// running turn, else the last turn for some time after its end. If a
// stream of the last turn was cut, that time lasts until another turn begins.
func (h *Hub) Resumable(ctx context.Context, session, id string) (Turn, bool, error) {
	l, release, err := h.session(ctx, session)
	if err != nil {
		return Turn{}, false, err
	}
	defer release()
	var turn Turn
	var ok bool
	if err := l.loadThread(ctx); err != nil { // which knows what was taken back
		return Turn{}, false, err
	}
	switch {
	case l.runsElsewhere(id):
		return Turn{}, false, ErrElsewhere
	case id != "":
		turn, ok = l.named(id)
	default:
		turn, ok = l.resumable()
	}
	if !ok || h.shared && l.isOrphan(turn.ID) && !l.isUnwritten(turn.ID) { // nothing more comes of an orphan
		return Turn{}, false, nil
	}
	turn, err = l.atLastMessage(ctx, turn)
	return turn, err == nil, err
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
		return Turn{Session: l.id, ID: id, Agent: l.info.Agent, MessageID: m.ID, After: m.After}, true
	}
	return Turn{}, false
}
