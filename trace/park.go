package trace

import "slices"

// A user gets one request at a time, or several of one kind at once. The next
// request of a chat can only answer what stands last in the message, and only once
// all of it is answered. So a request that comes meanwhile is on record at once,
// where other ways can answer it. The user gets it when the requests before it have
// their answers.

// hold takes what was asked, to put it to the user as soon as that can be.
func (t *turn) hold(asked ...*ask) {
	t.unshown = append(t.unshown, asked...)
	t.present()
}

// present puts what waits to the user, unless something is being asked. While
// the input of a call is being written it waits too, for the border of a step would
// cut that call in two; but not for ever.
func (t *turn) present() {
	late := slices.ContainsFunc(t.unshown, func(q *ask) bool { return q.late })
	if len(t.shown) > 0 || len(t.unshown) == 0 || t.writing > 0 && !late {
		return
	}
	question := t.unshown[0].question
	for _, q := range t.unshown {
		if q.question == question {
			q.shown = true
			t.shown = append(t.shown, q)
		}
	}
	t.unshown = slices.DeleteFunc(t.unshown, func(q *ask) bool { return q.shown })
	t.park(t.Hold)
}

// park closes parts and step for every reader: what is asked ends the step.
func (t *turn) park(held bool) {
	ids := make([]string, len(t.shown))
	for i, q := range t.shown {
		ids[i] = q.id
	}
	t.closeParts(true, false)
	t.put("", Gateway, Park{Requests: ids, Held: held})
	t.closeStep(true)
}

// answered puts what waits next to the user once all that was asked is answered.
func (t *turn) answered(q *ask) {
	t.letGo(q)
	t.present()
}

func (t *turn) letGo(q *ask) {
	is := func(o *ask) bool { return o == q }
	t.shown = slices.DeleteFunc(t.shown, is)
	t.unshown = slices.DeleteFunc(t.unshown, is)
}

// Present puts what waits to the user even while the agent writes the input of a
// call: now, or once what is being asked is answered. The owner of the turn calls
// Present if this takes too long: some agents go on writing only when they have
// their answer.
func (b *Builder) Present() {
	b.do(func(t *turn) {
		for _, q := range t.unshown {
			q.late = true
		}
		t.present()
	})
}

// Release lets readers leave who were held while somebody is asked.
func (b *Builder) Release() {
	b.do(func(t *turn) {
		if len(t.shown) > 0 {
			t.park(false)
		}
	})
}

// Asked returns the ids of what is put to the user now.
func (b *Builder) Asked() []string {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]string, len(t.shown))
	for i, q := range t.shown {
		ids[i] = q.id
	}
	return ids
}
