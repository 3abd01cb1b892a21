package trace

import (
	"context"
	"strconv"
	"strings"
)

// Reopen returns a Builder that goes on with a turn whose writer has died: it
// knows what the records left open, so that Finish closes it and ids stay
// unique. The records are all of that turn, in order; where the provisional ones
// are gone, an open part is closed with the text that is left of it.
func Reopen(ctx context.Context, cfg Config, records []Record) *Builder {
	b := NewBuilder(ctx, cfg)
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		t.remember(b, r.Event)
	}
	return b
}

func (t *turn) remember(b *Builder, e Event) {
	if i := strings.LastIndexByte(e.ID, '.'); i >= 0 {
		if n, err := strconv.Atoi(e.ID[i+1:]); err == nil {
			t.n = max(t.n, n)
		}
	}
	view := *b
	view.within, _ = e.Actor.SubagentCall()
	switch p := e.Payload.(type) {
	case MessageStart:
		t.rememberPart(view, p.Part, false)
	case ThoughtStart:
		t.rememberPart(view, p.Part, true)
	case MessageDelta:
		t.growRemembered(view, p.Part, p.Delta, false)
	case ThoughtDelta:
		t.growRemembered(view, p.Part, p.Delta, true)
	case Message:
		t.closeRemembered(view, p.Part, p.Text, false)
	case Thought:
		t.closeRemembered(view, p.Part, p.Text, true)
	case ToolCallStart:
		t.rememberCall(view, e.ID, ToolCall{ToolCallID: p.ToolCallID, RawName: p.RawName, Name: p.Name, ToolKind: p.ToolKind, Title: p.Title})
	case ToolCallDelta:
		if c := t.calls[p.ToolCallID]; c != nil {
			c.text.WriteString(p.Delta)
		}
	case ToolCall:
		c := t.rememberCall(view, e.ID, p)
		c.ToolCall, c.whole, c.event = p, true, e.ID
	case ToolResult:
		if c := t.calls[p.ToolCallID]; c != nil {
			c.done = true
		}
	case PermissionRequest:
		t.rememberAsk(view, &ask{id: p.RequestID, options: p.Options, event: e.ID, toolCall: t.calls[p.ToolCallID]})
	case Question:
		t.rememberAsk(view, &ask{id: p.QuestionID, question: true, event: e.ID, toolCall: t.calls[p.ToolCallID]})
	case PermissionResponse:
		if q := t.asks[p.RequestID]; q != nil {
			q.done = true
		}
	case Answer:
		if q := t.asks[p.QuestionID]; q != nil {
			q.done = true
		}
	case Step:
		t.stepOpen = p.Phase == PhaseStart
		if t.stepOpen {
			t.steps++
		}
	case Stop:
		t.done = true
	default:
	}
}

func (t *turn) rememberPart(view Builder, id string, thought bool) {
	t.partsN++
	p := &part{id: id, thought: thought, by: view}
	t.parts[view.partKey(id, thought)] = p
	t.open = append(t.open, p)
}

func (t *turn) growRemembered(view Builder, id, delta string, thought bool) {
	if p := t.parts[view.partKey(id, thought)]; p != nil {
		p.text.WriteString(delta)
	}
}

func (t *turn) closeRemembered(view Builder, id, text string, thought bool) {
	p := t.parts[view.partKey(id, thought)]
	if p == nil || p.closed {
		return
	}
	p.text.Reset()
	p.text.WriteString(text)
	t.forget(p)
}

func (t *turn) rememberCall(view Builder, event string, tc ToolCall) *call {
	c := t.calls[tc.ToolCallID]
	if c == nil {
		c = &call{ToolCall: tc, by: view, event: event}
		t.names[tc.ToolCallID]++
		t.calls[tc.ToolCallID] = c
		t.order = append(t.order, c)
	}
	return c
}

func (t *turn) rememberAsk(view Builder, q *ask) {
	q.by = view
	t.names["ask\x00"+q.id]++
	t.asks[q.id] = q
	t.asked = append(t.asked, q)
}
