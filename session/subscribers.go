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
	n            int
	came         bool        // there was one, and the turn has its grace when it begins without one
	grace        *time.Timer // ends the turn; nil: the turn has no end by itself
	ends, latest time.Time   // when grace does, and how long a request may put that off
	lost         func() bool // the gateway is gone through which the last one came; nil: it came without one
}

func (s *subscribers) join() {
	s.n++
	stopTimer(&s.grace)
}

// Attach counts a client that follows a turn by a chat stream. The function that
// it returns is to be called once when the client leaves; disconnected says that it left
// before it had the turn's end. If the client came through another gateway, lost reports
// whether that one has ended, which gives the client a minute to find another; nil otherwise.
func (h *Hub) Attach(session, turn string, lost func() bool) (leave func(disconnected bool)) {
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
		l.unfollow(t, disconnected, lost)
	}
}

func (l *activeSession) unfollow(t *turn, disconnected bool, lost func() bool) {
	l.mu.Lock()
	t.subscribers.n--
	t.subscribers.lost = lost
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
	t.subscribers.latest = l.hub.Now().Add(l.hub.GraceLimit)
	l.armGrace(t, wait)
}

func (l *activeSession) armGrace(t *turn, wait time.Duration) {
	stopTimer(&t.subscribers.grace)
	t.subscribers.ends = l.hub.Now().Add(wait)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		lost := t.subscribers.lost
		l.mu.Unlock()
		gone := lost != nil && lost()
		l.mu.Lock()
		due := t.subscribers.grace == timer && t.subscribers.n == 0
		if due && l.hub.standsStill.Load() { // nobody can come back
			l.armGrace(t, l.hub.GracePeriod)
			due = false
		}
		if due && gone {
			t.subscribers.lost = nil
			l.armGrace(t, lostGrace)
		}
		due = due && !gone && t.decideStop() // a client that comes from now on is too late, and sees it
		l.mu.Unlock()
		if due {
			t.writeStop(stopped("disconnected"))
		}
	})
	t.subscribers.grace = timer
}

// lostGrace is what a turn gets once more whose last client came through a gateway that has ended: the client has to find that out,
// and to find another gateway.
const lostGrace = time.Minute

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
		wait := min(t.subscribers.latest.Sub(h.Now()), h.GracePeriod)
		if t.subscribers.grace != nil && h.Now().Add(wait).After(t.subscribers.ends) {
			l.armGrace(t, wait)
		}
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
// The caller calls leave once, when the client leaves; disconnected and lost are as for Attach. A client
// that was cut follows its prompts no longer. A client that got the whole stream has not left:
// its prompts run without their grace period.
func (h *Hub) FollowQueued(session, by string, lost func() bool) (leave func(disconnected bool)) {
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
			l.unfollow(t, disconnected, lost)
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
