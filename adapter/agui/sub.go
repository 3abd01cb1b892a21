package agui

import (
	"cmp"

	"github.com/tributary-dev/tributary/trace"
)

// sub is a sub-agent.
type sub struct {
	b      *trace.Builder
	parent *trace.Builder
	called bool // by a call, whose result ends the sub-agent
}

// view is where a sub-agent writes; "" is the agent itself.
func (t *turn) view(id string) *trace.Builder {
	if id == "" {
		return t.b
	}
	if _, known := t.subs[id]; !known {
		t.subs[id] = sub{b: t.b.Sub(id, ""), parent: t.b}
	}
	return t.subs[id].b
}

func (d *Decoder) subStarted(t *turn, e event) {
	if _, known := t.subs[e.SubagentRunID]; known || e.SubagentRunID == "" {
		return // suspended, it goes on
	}
	s := sub{parent: t.view(e.ParentSubagentRunID), called: t.calls[e.ParentToolCallID] != nil}
	if s.called {
		s.b = s.parent.Under(e.ParentToolCallID)
	} else {
		s.b = s.parent.Sub(e.SubagentRunID, e.Name)
	}
	t.subs[e.SubagentRunID] = s
}

// subEnded ends a sub-agent, unless the sub-agent waits for an answer.
func (d *Decoder) subEnded(t *turn, e event) {
	b, status := t.view(e.SubagentRunID), trace.SubagentCompleted
	if e.Type == "SUBAGENT_ERROR" {
		status = trace.SubagentFailed
		b.Emit(trace.Error{Code: plain(e.Code), Message: cmp.Or(plain(e.Message), plain(e.Code), "A sub-agent failed.")})
	}
	if s := t.subs[e.SubagentRunID]; !s.called && s.b != nil && e.outcome().Type != "suspended" {
		s.parent.SubEnd(e.SubagentRunID, status)
	}
}
