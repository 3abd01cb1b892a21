package session

import (
	"slices"

	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes events of records.

// eventProjector makes events of a session's durable records, one after another. It keeps
// the layouts of the turns that are not over. The zero value has seen nothing.
type eventProjector struct {
	open []openTurn // in the order in which they began
}

// openTurn is a turn without a stop. Its layout may have more records than the projector has
// seen.
type openTurn struct {
	id     string
	layout thread.Layout
	held   bool // see hold
}

// observe takes a record over and returns the event that it makes, if any.
func (d *eventProjector) observe(r trace.Record) (e Event, ok bool) {
	switch p := r.Payload.(type) { //nolint:gochecksumtype // what is within a turn is for its subscribers
	case trace.Rewind:
		return Event{Seq: r.Seq, Type: EventHistory, To: p.To}, true
	case trace.Prompt, trace.Reply, trace.Pause, trace.PermissionResponse, trace.Answer, trace.Stop:
	default:
		return Event{}, false
	}
	t := d.turn(r.Turn)
	before := t.status(r.Seq - 1).State
	t.layout.Take(r.Seq, r.Payload)
	e = Event{Seq: r.Seq, Type: EventTurn, TurnStatus: t.status(r.Seq)}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // as above
	case trace.Stop:
		d.open = slices.DeleteFunc(d.open, func(o openTurn) bool { return o.id == r.Turn })
		e.State, e.Requests, e.Outcome, e.Reason = TurnEnded, nil, p.Outcome, p.Reason
		return e, true
	case trace.Prompt: // the first one, or another text of one that waits
		return e, before == "" || e.State == TurnQueued || e.State == TurnHeld
	case trace.Pause:
		return e, e.State == TurnPaused
	case trace.Reply:
		return e, true
	}
	return e, before == TurnPaused // an answer
}

// turn finds a turn, or begins it.
func (d *eventProjector) turn(id string) *openTurn {
	i := slices.IndexFunc(d.open, func(t openTurn) bool { return t.id == id })
	if i < 0 {
		i = len(d.open)
		d.open = append(d.open, openTurn{id: id})
	}
	return &d.open[i]
}

// hold takes over which prompts are held, and returns the turns whose state that changes. No record says
// so, but the session's document does, before the stop or the reply that comes with it is on record.
func (d *eventProjector) hold(at uint64, held func(turn string) bool) (changed []TurnStatus) {
	for i := range d.open {
		t := &d.open[i]
		if now := held(t.id); now != t.held {
			t.held = now
			if s := t.status(at); s.State == TurnHeld || s.State == TurnQueued {
				changed = append(changed, s)
			}
		}
	}
	return changed
}

// status lists the turns that are not over, as they stood at a record.
func (d *eventProjector) status(at uint64) []TurnStatus {
	all := make([]TurnStatus, 0, len(d.open))
	for _, t := range d.open {
		if s := t.status(at); s.State != "" {
			all = append(all, s)
		}
	}
	return all
}

// status is how the turn stood at a record. Its state is empty before the prompt.
func (t *openTurn) status(at uint64) TurnStatus {
	stood := t.layout.StandingAt(at)
	s := TurnStatus{Turn: t.id, By: t.layout.By, MessageID: stood.Message, Requests: stood.Requests}
	switch {
	case len(s.Requests) > 0:
		s.State = TurnPaused
	case s.MessageID != "":
		s.State = TurnRunning
	case stood.Prompted && t.held:
		s.State = TurnHeld
	case stood.Prompted:
		s.State = TurnQueued
	}
	return s
}
