package session

import "slices"

// Return tells that a principal follows a chat stream of the session from now on.
// It follows its prompts that wait, too: a page that is loaded anew gets the stream
// of the turn that runs, and has no other way to say that it still wants the one
// behind it. Their own connections may have been cut, or be about to be: a proxy may
// tell of that only after the new page is there.
//
// The function that is returned is to be called once when the client leaves; cut is
// as for Attach. A client that was cut gives its prompts up again. One that has had
// its stream to the end has not left: the prompts run without their grace.
func (h *Hub) Return(session, by string) (leave func(cut bool)) {
	h.mu.Lock()
	l := h.live[session]
	if l == nil {
		h.mu.Unlock()
		return func(bool) {}
	}
	release := h.hold(l)
	h.mu.Unlock()
	l.mu.Lock()
	var back []*turn
	for _, t := range slices.Concat(l.queue, l.coming) {
		if t.by == by {
			stopTimer(&t.grace)
			t.followers++
			back = append(back, t)
		}
	}
	l.mu.Unlock()
	return func(cut bool) {
		defer release()
		for _, t := range back {
			if !cut {
				l.mu.Lock()
				t.followed = false
				l.mu.Unlock()
			}
			l.left(t, cut)
		}
	}
}
