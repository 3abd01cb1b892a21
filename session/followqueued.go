package session

// This file keeps the queued prompts of a client that follows the running turn.

// FollowQueued tells that a principal follows a chat stream of the session from now on.
// The principal follows their queued prompts, too: a reloaded page gets the stream
// of the running turn, and has no other way to ask for the turns behind it. The
// prompts' own connections may be cut already, or soon: a proxy may report that only
// after the page has loaded.
//
// The function that is returned is to be called once when the client leaves;
// disconnected is // as for Attach. A client that was cut gives its prompts up again. One that has had
// its stream to the end has not left: the prompts run without their grace.
func (h *Hub) FollowQueued(session, by string) (leave func(disconnected bool)) {
	h.mu.Lock()
	l := h.sessions[session]
	if l == nil {
		h.mu.Unlock()
		return func(bool) {}
	}
	release := h.pin(l)
	h.mu.Unlock()
	l.mu.Lock()
	var back []*turn
	for _, t := range l.queue {
		if t.by == by {
			stopTimer(&t.grace)
			t.subscribers++
			back = append(back, t)
		}
	}
	l.mu.Unlock()
	return func(disconnected bool) {
		defer release()
		for _, t := range back {
			if !disconnected {
				l.mu.Lock()
				t.subscribed = false
				l.mu.Unlock()
			}
			l.unfollow(t, disconnected)
		}
	}
}
