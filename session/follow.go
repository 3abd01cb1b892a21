package session

import (
	"context"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// Follow yields the records of one turn with a number greater than after, as
// they come, up to and including its stop.
func (h *Hub) Follow(ctx context.Context, session, turn string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range h.Log.Follow(ctx, session, after) {
			if err != nil {
				yield(trace.Record{}, err)
				return
			}
			if r.Turn != turn {
				continue
			}
			_, last := r.Payload.(trace.Stop)
			if !yield(r, nil) || last {
				return
			}
		}
	}
}

// Attach counts a client that follows a turn by a chat stream. The function that
// it returns is to be called once when the client leaves; cut says that it left
// before it had the turn's end.
func (h *Hub) Attach(session, turn string) (leave func(cut bool)) {
	l, t := h.lookup(session, turn)
	if t == nil {
		return func(bool) {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.followers++
	t.followed = true
	stopTimer(&t.grace)
	return func(cut bool) { l.left(t, cut) }
}

func (h *Hub) lookup(session, id string) (*live, *turn) {
	h.mu.Lock()
	l := h.live[session]
	h.mu.Unlock()
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[id]; t != nil {
		return l, t
	}
	if l.last != nil && l.last.id == id {
		return l, l.last
	}
	return l, nil
}

func (l *live) left(t *turn, cut bool) {
	l.mu.Lock()
	t.followers--
	remember := false
	if cut {
		remember = t.ending && l.last == t && !t.cut
		t.cut = true
		if remember {
			ref := t.ref()
			l.info.Last = &ref
		}
	}
	if cut && t.followers == 0 && !t.ending {
		l.startGrace(t)
	}
	l.mu.Unlock()
	if remember {
		l.saveLate()
	}
}

// startGrace begins to count down for a turn that nobody follows any more.
func (l *live) startGrace(t *turn) {
	wait := l.hub.GracePeriod
	switch l.hub.OnDisconnect {
	case Detach:
		if t.began {
			return // a queued prompt has its grace in every mode
		}
	case Stop:
		wait = 0
	case Grace:
	}
	t.graceFrom = l.hub.Now()
	l.armGrace(t, wait)
}

func (l *live) armGrace(t *turn, wait time.Duration) {
	stopTimer(&t.grace)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		due := t.grace == timer && t.followers == 0 && !t.ending
		reason := "disconnected"
		if !t.began {
			reason = "not_run"
		}
		l.mu.Unlock()
		if due {
			t.finish(stopped(reason))
		}
	})
	t.grace = timer
}

// Touch tells that somebody who may see the session asked for something of it:
// a turn in its grace gets more of it.
func (h *Hub) Touch(session string) {
	h.mu.Lock()
	l := h.live[session]
	h.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.turns {
		if t.grace == nil {
			continue
		}
		rest := t.graceFrom.Add(h.GraceLimit).Sub(h.Now())
		l.armGrace(t, max(0, min(rest, h.GracePeriod)))
	}
}

// Resumable is the turn that a client gets who asks to resume: the one named;
// else the running one; else the last one, for a while after its end, and for as
// long as no other turn begins when a stream of it was cut.
func (h *Hub) Resumable(ctx context.Context, session, id string) (Turn, bool, error) {
	l, err := h.session(ctx, session)
	if err != nil {
		return Turn{}, false, err
	}
	if id != "" {
		return l.named(ctx, id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.current(); t != nil {
		return t.handle(), true, nil
	}
	last := l.info.Last
	if last == nil || !last.Cut && h.Now().Sub(last.EndedAt) > h.Replay {
		return Turn{}, false, nil
	}
	return Turn{Session: l.id, ID: last.ID, MessageID: last.MessageID, After: last.After}, true, nil
}

// current is the turn that runs, or the first that waits.
func (l *live) current() *turn {
	if l.running != nil && !l.running.ending {
		return l.running
	}
	var newest *turn
	for _, t := range l.turns {
		if t.began && !t.ending && (newest == nil || t.id > newest.id) {
			newest = t
		}
	}
	if newest == nil && len(l.queue) > 0 {
		newest = l.queue[0]
	}
	return newest
}

// named finds a turn by its id.
func (l *live) named(ctx context.Context, id string) (Turn, bool, error) {
	if err := l.loadBranch(ctx); err != nil {
		return Turn{}, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[id]; t != nil {
		return t.handle(), true, nil
	}
	for _, m := range l.branch.messages {
		if m.turn == id && !m.user {
			return Turn{Session: l.id, ID: id, MessageID: m.id, After: m.after}, true, nil
		}
	}
	return Turn{}, false, nil
}
