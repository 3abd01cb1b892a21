package trace

import (
	"slices"
	"time"
)

// This file pauses a turn: it puts requests to the user, one kind at a time.

// A user gets one request at a time, or several of one kind at once. The next
// request of a chat can only answer what stands last in the message, and only once
// all of it is answered. So a request that comes meanwhile is on record at once,
// where other ways can answer it. The user gets it when the requests before it have
// their answers.

// queueRequests takes new requests, to put them to the user as soon as that can be. A
// request waits for a call that is being written, but not longer than ShowRequestsWithin.
func (t *turn) queueRequests(b *Builder, asked ...*request) {
	t.queuedRequests = append(t.queuedRequests, asked...)
	t.showNext()
	b.showInTime()
}

// showInTime shows queued requests even if the agent goes on writing a call.
func (b *Builder) showInTime() {
	if t := b.turn; t.ShowRequestsWithin > 0 && len(t.queuedRequests) > 0 {
		time.AfterFunc(t.ShowRequestsWithin, func() {
			if len(b.Requests()) > 0 {
				b.Present()
			}
		})
	}
}

// showNext puts queued requests to the user, unless others are with the user. A request
// waits also while the input of a call is being written, because the end of a step would
// cut that call in two.
func (t *turn) showNext() {
	overdue := slices.ContainsFunc(t.queuedRequests, func(q *request) bool { return q.overdue })
	if len(t.active) > 0 || len(t.queuedRequests) == 0 || t.writing > 0 && !overdue {
		return
	}
	question := t.queuedRequests[0].question
	for _, q := range t.queuedRequests {
		if q.question == question {
			q.Shown = t.touched
			t.active = append(t.active, q)
		}
	}
	t.queuedRequests = slices.DeleteFunc(t.queuedRequests, func(q *request) bool { return !q.Shown.IsZero() })
	t.changed = true
	t.pause(t.Hold)
}

// pause closes parts and step for every reader: what is asked ends the step.
func (t *turn) pause(held bool) {
	ids := t.activeIDs()
	t.held = held
	t.closeParts(true, false)
	t.put("", Gateway, Pause{Requests: ids, Held: held})
	t.closeStep(true)
}

// remove takes a request out of the queue, and away from the user.
func (t *turn) remove(q *request) {
	is := func(o *request) bool { return o == q }
	t.active = slices.DeleteFunc(t.active, is)
	t.queuedRequests = slices.DeleteFunc(t.queuedRequests, is)
}

// Present puts queued requests to the user even while the agent writes the input of a
// call: now, or when the requests before them have their answers. Some agents go on
// writing only when they have their answer.
func (b *Builder) Present() {
	b.do(func(t *turn) {
		for _, q := range t.queuedRequests {
			q.overdue = true
		}
		t.showNext()
	})
}

// EndHold lets readers leave who were held while somebody is asked.
func (b *Builder) EndHold() {
	b.do(func(t *turn) {
		if len(t.active) > 0 {
			t.changed = true
			t.pause(false)
		}
	})
}

// Asked returns the ids of what is put to the user now.
func (b *Builder) Asked() []string {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.activeIDs()
}

func (t *turn) activeIDs() []string {
	ids := make([]string, len(t.active))
	for i, q := range t.active {
		ids[i] = q.ID
	}
	return ids
}

// Held reports whether readers stay while the user is asked.
func (b *Builder) Held() bool {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held && len(t.active) > 0
}
