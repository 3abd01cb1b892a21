package session

import (
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// eventProjector makes events of a session's whole records, one after another. It keeps
// the turns that are not over and nothing else. The zero value has seen nothing.
type eventProjector struct {
	open []openTurn // in the order in which they began
}

// openTurn is a turn without a stop.
type openTurn struct {
	TurnStatus
	answered map[string]bool // requests that have their answer
}

// observe takes a record over and returns the event that it makes, if any.
func (d *eventProjector) observe(r trace.Record) (e Event, ok bool) {
	switch p := r.Payload.(type) {
	case trace.Prompt:
		t := d.turn(r.Turn)
		t.By = p.By
		if t.State == "" {
			return t.becomes(r, TurnQueued)
		}
	case trace.Reply:
		t := d.turn(r.Turn)
		t.MessageID, t.Requests = p.MessageID, nil // where it was paused, the answer came in words and follows
		return t.becomes(r, TurnRunning)
	case trace.Pause:
		return d.turn(r.Turn).pause(r, p.Requests)
	case trace.PermissionResponse:
		return d.turn(r.Turn).answer(r, p.RequestID)
	case trace.Answer:
		return d.turn(r.Turn).answer(r, p.QuestionID)
	case trace.Rewind:
		return Event{Seq: r.Seq, Type: EventHistory, To: p.To}, true
	case trace.Stop:
		t := *d.turn(r.Turn)
		d.open = slices.DeleteFunc(d.open, func(o openTurn) bool { return o.Turn == r.Turn })
		t.Requests, t.Outcome, t.Reason = nil, p.Outcome, p.Reason
		return t.becomes(r, TurnEnded)
	case trace.MessageStart, trace.MessageDelta, trace.Message, trace.ThoughtStart, trace.ThoughtDelta, trace.Thought,
		trace.ToolCallStart, trace.ToolCallDelta, trace.ToolCall, trace.ToolResultProgress, trace.ToolResult,
		trace.PermissionRequest, trace.Question, trace.Step, trace.Usage, trace.Plan, trace.FileChange, trace.Source,
		trace.File, trace.Data, trace.Error, trace.Status, trace.Unknown:
		// what is within a turn is for those who follow it
	}
	return Event{}, false
}

// turn finds a turn, or begins it.
func (d *eventProjector) turn(id string) *openTurn {
	i := slices.IndexFunc(d.open, func(t openTurn) bool { return t.Turn == id })
	if i < 0 {
		i = len(d.open)
		d.open = append(d.open, openTurn{TurnStatus: TurnStatus{Turn: id}, answered: map[string]bool{}})
	}
	return &d.open[i]
}

// status lists the turns that are not over.
func (d *eventProjector) status() []TurnStatus {
	all := make([]TurnStatus, 0, len(d.open))
	for _, t := range d.open {
		if t.State != "" {
			all = append(all, t.TurnStatus)
		}
	}
	return all
}

func (t *openTurn) becomes(r trace.Record, s TurnState) (Event, bool) {
	t.State = s
	return Event{Seq: r.Seq, Type: EventTurn, TurnStatus: t.TurnStatus}, true
}

// pause makes the turn wait for what has no answer yet.
func (t *openTurn) pause(r trace.Record, requests []string) (Event, bool) {
	waits := slices.Clone(t.Requests)
	for _, id := range requests {
		if !t.answered[id] && !slices.Contains(waits, id) {
			waits = append(waits, id)
		}
	}
	if len(waits) == 0 {
		return Event{}, false
	}
	t.Requests = waits
	return t.becomes(r, TurnPaused)
}

// answer notes an answer. The last one that a paused turn waited for makes it run
// again.
func (t *openTurn) answer(r trace.Record, request string) (Event, bool) {
	t.answered[request] = true
	if t.State != TurnPaused {
		return Event{}, false
	}
	t.Requests = slices.DeleteFunc(slices.Clone(t.Requests), t.isAnswered) // events that were made hold the old list
	if len(t.Requests) > 0 {
		return t.becomes(r, TurnPaused)
	}
	t.Requests = nil
	return t.becomes(r, TurnRunning)
}

func (t *openTurn) isAnswered(request string) bool { return t.answered[request] }
