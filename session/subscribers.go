package session

import (
	"slices"
	"time"

	"github.com/tributary-dev/tributary/session/turnstate"
)

// This file counts the clients that follow a turn, and ends a turn that no client follows.

// subscribers are the clients that follow a turn by a chat stream. The session's mutex guards
// them.
type subscribers struct {
	n     int
	came  bool        // there was one, and the turn has its grace when it begins without one
	grace *time.Timer // ends the turn; nil: the turn has no end by itself
	since time.Time   // when the grace period began
}

func (s *subscribers) join() {
	s.n++
	stopTimer(&s.grace)
}

// Attach counts a client that follows a turn by a chat stream. The function that
// it returns is to be called once when the client leaves; disconnected says that it left
// before it had the turn's end.
func (h *Hub) Attach(session, turn string) (leave func(disconnected bool)) {
	l, t, release := h.lookup(session, turn)
	if t == nil {
		release()
		return func(bool) {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.subscribers.join()
	t.subscribers.came = true
	return func(disconnected bool) {
		defer release()
		l.unfollow(t, disconnected)
	}
}

func (l *activeSession) unfollow(t *turn, disconnected bool) {
	l.mu.Lock()
	t.subscribers.n--
	changed := disconnected && t.markUndelivered()
	if disconnected && t.subscribers.n == 0 && t.state != turnstate.Paused && !t.state.Stopped() { // a turn that waits for somebody needs no subscriber
		l.startGrace(t)
	}
	l.mu.Unlock()
	if changed {
		l.saveLater()
	}
}

// MarkUndelivered records that the gateway ended a client's stream before the end of a turn.
// The rest is kept as for a client whose connection was cut, and the turn goes on
// without a subscriber.
func (h *Hub) MarkUndelivered(session, turn string) {
	l, t, release := h.lookup(session, turn)
	defer release()
	if t == nil {
		return
	}
	l.mu.Lock()
	changed := t.markUndelivered()
	l.mu.Unlock()
	if changed {
		l.saveLater()
	}
}

// markUndelivered notes that a client did not get the turn's end. It reports whether the
// document of the session has changed. The caller holds activeSession.mu.
func (t *turn) markUndelivered() (changed bool) {
	changed = t.state.Stopped() && t.session.last == t && !t.undelivered
	t.undelivered = true
	if changed {
		ref := t.ref()
		t.session.info.Last = &ref
	}
	return changed
}

// startGrace begins to count down for a turn without a subscriber.
func (l *activeSession) startGrace(t *turn) {
	wait := l.hub.GracePeriod
	switch l.hub.OnDisconnect {
	case Detach:
		if t.state.Began() {
			return // a queued prompt has its grace in every mode
		}
	case Stop:
		wait = 0
	case Grace:
	}
	t.subscribers.since = l.hub.Now()
	l.armGrace(t, wait)
}

func (l *activeSession) armGrace(t *turn, wait time.Duration) {
	stopTimer(&t.subscribers.grace)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		due := t.subscribers.grace == timer && t.subscribers.n == 0 && t.decideStop() // a client that comes from now on is too late, and sees it
		l.mu.Unlock()
		if due {
			t.writeStop(stopped("disconnected"))
		}
	})
	t.subscribers.grace = timer
}

// Touch tells that somebody who may see the session asked for something of it:
// a turn in its grace gets more of it.
func (h *Hub) Touch(session string) {
	l := h.ifInMemory(session)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.turns {
		if t.subscribers.grace == nil {
			continue
		}
		rest := t.subscribers.since.Add(h.GraceLimit).Sub(h.Now())
		l.armGrace(t, max(0, min(rest, h.GracePeriod)))
	}
}

// follower is a client that follows a chat stream of the session, and with it the queued
// prompts of its principal.
type follower struct {
	by    string
	turns []*turn
}

func (f *follower) follow(t *turn) {
	t.subscribers.join()
	f.turns = append(f.turns, t)
}

// FollowQueued tells that a principal follows a chat stream of the session from now on.
// The principal follows their queued prompts too, and those that they send later. So a page
// that reads the running turn needs no connection for each prompt behind that turn. A reloaded
// page has no other way to ask for the prompts. Their own connections may be cut by then: a
// proxy may report that only after the page has loaded.
//
// The caller calls leave once, when the client leaves; disconnected is as for Attach. A client
// that was cut follows its prompts no longer. A client that got the whole stream has not left:
// its prompts run without their grace period.
func (h *Hub) FollowQueued(session, by string) (leave func(disconnected bool)) {
	l, _, release := h.lookup(session, "")
	if l == nil {
		return func(bool) {}
	}
	f := &follower{by: by}
	l.mu.Lock()
	for _, t := range l.queue {
		if t.by == by {
			f.follow(t)
		}
	}
	l.followers = append(l.followers, f)
	l.mu.Unlock()
	return func(disconnected bool) {
		defer release()
		l.mu.Lock()
		l.followers = slices.DeleteFunc(l.followers, func(o *follower) bool { return o == f })
		l.mu.Unlock()
		for _, t := range f.turns {
			if !disconnected {
				l.mu.Lock()
				t.subscribers.came = false
				l.mu.Unlock()
			}
			l.unfollow(t, disconnected)
		}
	}
}

// followed counts the clients of a queued turn's principal that follow the session already.
// The caller holds l.mu.
func (l *activeSession) followed(t *turn) {
	for _, f := range l.followers {
		if f.by == t.by {
			f.follow(t)
		}
	}
}
