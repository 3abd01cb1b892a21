package agenttest

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/trace"
)

// call is a tool call.
type call struct {
	event  string // its newest event
	whole  bool
	newest trace.ToolCall // the newest whole
	done   bool
}

// ask is a permission request or a question.
type ask struct {
	event    string
	question bool
	done     bool
}

// tool checks calls and their results.
func (g *grammar) tool(e trace.Event) error {
	switch p := e.Payload.(type) {
	case trace.ToolCallStart:
		if g.calls[p.ToolCallID] != nil {
			return fmt.Errorf("the call id %q was used before", p.ToolCallID)
		}
		g.calls[p.ToolCallID] = &call{event: e.ID}
		return firstError(named(p.ToolCallID, p.RawName, p.Name, p.ToolKind), g.visible(e))
	case trace.ToolCallDelta:
		if c := g.calls[p.ToolCallID]; c == nil || c.whole {
			return fmt.Errorf("call %q is not being written", p.ToolCallID)
		}
		if p.Delta == "" || !utf8.ValidString(p.Delta) {
			return fmt.Errorf("the delta %q is empty or not UTF-8", p.Delta)
		}
		return nil
	case trace.ToolCall:
		return g.wholeCall(e, p)
	case trace.ToolResultProgress:
		return firstError(g.ofCall(e, p.ToolCallID), validJSON("output", p.Output))
	case trace.ToolResult:
		return g.result(e, p)
	}
	return nil
}

func (g *grammar) wholeCall(e trace.Event, p trace.ToolCall) error {
	c := g.calls[p.ToolCallID]
	if c == nil {
		if err := g.visible(e); err != nil {
			return err
		}
		c = &call{}
		g.calls[p.ToolCallID] = c
	}
	// A whole may come again while the call is open, if something has changed.
	if c.whole && (c.done || reflect.DeepEqual(p, c.newest)) {
		return fmt.Errorf("call %q is complete already", p.ToolCallID)
	}
	c.whole, c.event, c.newest = true, e.ID, p
	return firstError(named(p.ToolCallID, p.RawName, p.Name, p.ToolKind), validJSON("input", p.Input))
}

func (g *grammar) result(e trace.Event, p trace.ToolResult) error {
	if err := firstError(g.ofCall(e, p.ToolCallID), validJSON("output", p.Output)); err != nil {
		return err
	}
	g.calls[p.ToolCallID].done = true
	switch p.Status {
	case trace.ToolCompleted:
		return nil
	case trace.ToolFailed, trace.ToolDenied, trace.ToolCanceled:
		if p.Error == "" {
			return fmt.Errorf("call %q ended as %s and does not say why", p.ToolCallID, p.Status)
		}
		return nil
	}
	return fmt.Errorf("the status %q is not known", p.Status)
}

// ofCall checks that an event belongs to a call that runs.
func (g *grammar) ofCall(e trace.Event, id string) error {
	c := g.calls[id]
	switch {
	case c == nil || !c.whole:
		return fmt.Errorf("call %q was not made", id)
	case c.done:
		return fmt.Errorf("call %q has its result", id)
	case e.Parent != c.event:
		return fmt.Errorf("its parent is %q, not its call %s", e.Parent, c.event)
	}
	return nil
}

func named(id, raw, name string, kind trace.ToolKind) error {
	if id == "" || raw == "" || name == "" || kind == "" {
		return fmt.Errorf("a call lacks its id, a name or a kind")
	}
	return nil
}

// ask checks what is asked, and the answers.
func (g *grammar) ask(e trace.Event) error {
	switch p := e.Payload.(type) {
	case trace.PermissionRequest:
		return firstError(g.opens(e, p.RequestID, false), g.about(e, p.ToolCallID))
	case trace.Question:
		return firstError(g.opens(e, p.QuestionID, true), g.about(e, p.ToolCallID))
	case trace.PermissionResponse:
		return g.answers(e, p.RequestID, false)
	case trace.Answer:
		return g.answers(e, p.QuestionID, true)
	case trace.Pause:
		for id, part := range g.parts {
			if part.open {
				return fmt.Errorf("the turn pauses while part %q is open", id)
			}
		}
		for _, id := range p.Requests {
			if a := g.asks[id]; a == nil || a.done {
				return fmt.Errorf("the turn pauses on %q, which is no open request", id)
			}
		}
	}
	return nil
}

func (g *grammar) opens(e trace.Event, id string, question bool) error {
	if id == "" || g.asks[id] != nil {
		return fmt.Errorf("the id %q is empty or was used before", id)
	}
	g.asks[id] = &ask{event: e.ID, question: question}
	return g.visible(e)
}

func (g *grammar) about(e trace.Event, callID string) error {
	if callID == "" {
		return nil
	}
	return g.ofCall(e, callID)
}

func (g *grammar) answers(e trace.Event, id string, question bool) error {
	a := g.asks[id]
	switch {
	case a == nil || a.question != question:
		return fmt.Errorf("%q was not asked", id)
	case a.done:
		return fmt.Errorf("%q has its answer", id)
	case e.Parent != a.event:
		return fmt.Errorf("its parent is %q, not what was asked, %s", e.Parent, a.event)
	}
	a.done = true
	return nil
}
