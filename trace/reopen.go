package trace

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// This file continues a turn from its records after a restart.

// Restore returns a Builder that goes on with a turn whose writer has died: it
// knows what the records left open, so that Finish closes it and ids stay
// unique. The records are all of that turn, in order; where the ephemeral ones
// are gone, an open part is closed with the text that is left of it.
func Restore(ctx context.Context, cfg Config, records []Record) *Builder {
	b := NewBuilder(ctx, cfg)
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		t.replay(r.Event)
	}
	b.showInTime()
	return b
}

func (t *turn) replay(e Event) {
	if i := strings.LastIndexByte(e.ID, '.'); i >= 0 {
		if n, err := strconv.Atoi(e.ID[i+1:]); err == nil {
			t.n = max(t.n, n)
		}
	}
	view := Builder{turn: t}
	view.within, _ = e.Actor.SubagentCall()
	switch p := e.Payload.(type) {
	case MessageStart:
		t.rememberPart(view, p.Part, false)
	case ThoughtStart:
		t.rememberPart(view, p.Part, true)
	case MessageDelta:
		t.replayDelta(view, p.Part, p.Delta, false)
	case ThoughtDelta:
		t.replayDelta(view, p.Part, p.Delta, true)
	case Message:
		t.closeRemembered(view, p.Part, p.Text, false, p.Superseded)
	case Thought:
		t.closeRemembered(view, p.Part, p.Text, true, p.Superseded)
	case ToolCallStart:
		c := t.replayCall(view, e.ID, ToolCall{ToolCallID: p.ToolCallID, RawName: p.RawName, Name: p.Name, ToolKind: p.ToolKind, Title: p.Title})
		c.write(t)
	case ToolCallDelta:
		if c := t.calls[p.ToolCallID]; c != nil && !c.whole {
			c.text.WriteString(p.Delta)
		}
	case ToolCall:
		c := t.replayCall(view, e.ID, p)
		if !c.whole {
			t.running++
		}
		t.stopWriting(c)
		c.tool, c.whole, c.event = p, true, e.ID
	case ToolResultProgress:
		var text string
		if c := t.calls[p.ToolCallID]; c != nil && !c.done && json.Unmarshal(p.Output, &text) == nil && text != "" {
			c.output = &output{} // what is left of the text that the call has printed
			t.print(c.output, text)
			c.output.unsent = 0
		}
	case ToolResult:
		if c := t.calls[p.ToolCallID]; c != nil && !c.done {
			t.stopWriting(c)
			t.closeCall(c)
		}
	case PermissionRequest:
		t.replayRequest(e, p.RequestID, &request{options: p.Options, toolCall: t.calls[p.ToolCallID], decided: p.DecidedBy != ""})
	case Question:
		t.replayRequest(e, p.QuestionID, &request{question: true, toolCall: t.calls[p.ToolCallID]})
	case PermissionResponse:
		if q := t.requests[p.RequestID]; q != nil && !q.done() {
			t.heed(q.toolCall, p)
		}
		t.replayAnswer(e, p.RequestID)
	case Answer:
		t.replayAnswer(e, p.QuestionID)
	case Step:
		if t.stepOpen = p.Phase == PhaseStart; t.stepOpen {
			t.steps++
			t.stepCalls = len(t.order)
			t.step = Step{Name: p.Name, NativeID: p.NativeID}
		} else {
			t.step = Step{}
		}
	case Pause:
		t.replayPause(e, p)
	case Stop:
		t.done = true
	case Data:
		if s, ok := p.Subagent(); ok {
			t.rememberSub(s, e.ID)
		}
	case Prompt, Reply, Rewind, Usage, Plan, FileChange, Source, File, Error, Status, Unknown:
		// nothing stays open after these
	}
}

func (t *turn) rememberPart(view Builder, id string, thought bool) {
	t.partsN++
	p := view.newPart(t, id, thought)
	p.id = id
	t.open = append(t.open, p)
}

func (t *turn) replayDelta(view Builder, id, delta string, thought bool) {
	if p := view.lookup(t, id, thought); p != nil && !p.closed {
		p.text.WriteString(delta)
		p.cut = p.text.Len() > t.MaxEvent // its mark stands after what it took
	}
}

func (t *turn) closeRemembered(view Builder, id, text string, thought, superseded bool) {
	p := view.lookup(t, id, thought)
	if p == nil {
		return
	}
	if superseded {
		p.superseded = true
		t.notFinal(p)
	}
	if p.closed {
		return
	}
	p.text.Reset()
	p.text.WriteString(text)
	t.forget(p)
}

func (t *turn) replayCall(view Builder, event string, tc ToolCall) *call {
	c := t.calls[tc.ToolCallID]
	if c == nil {
		c = &call{tool: tc, by: view.author(t), event: event}
		t.callNames.unique(tc.ToolCallID)
		t.calls[tc.ToolCallID] = c
		t.order = append(t.order, c)
	}
	return c
}

func (t *turn) replayRequest(e Event, id string, q *request) {
	if t.requests[id] != nil {
		return
	}
	t.requestNames.unique(id)
	q.Request = Request{ID: id, Asked: e.Payload, Opened: e.Time}
	q.event, q.answered = e.ID, make(chan struct{})
	t.requests[id] = q
	t.inOrder = append(t.inOrder, q)
	t.waiting++
	if !q.decided {
		t.queuedRequests = append(t.queuedRequests, q)
	}
	if q.toolCall != nil {
		q.toolCall.requests = append(q.toolCall.requests, q)
	}
}

func (t *turn) replayAnswer(e Event, id string) {
	if q := t.requests[id]; q != nil && !q.done() {
		q.Asked, q.Answer, q.Answered = nil, e.Payload, e.Time
		close(q.answered)
		t.waiting--
		t.remove(q)
	}
}

func (t *turn) replayPause(e Event, p Pause) {
	t.held = p.Held
	for _, id := range p.Requests {
		if q := t.requests[id]; q != nil && !q.done() && q.Shown.IsZero() {
			t.remove(q)
			q.Shown = e.Time
			t.active = append(t.active, q)
		}
	}
}
