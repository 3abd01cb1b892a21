package langgraph

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// toolCall is a call of a tool.
type toolCall struct {
	id, name string
	args     raw             // nil until the whole input is known
	text     strings.Builder // of the input, as it grows
	hidden   bool
	begun    bool // the user has seen it, unless it is hidden
	done     bool
	failing  bool // the tool has failed, and why is not known yet
}

// call returns the call of an id, and begins it if need be. A model may use an id again
// once the call has its result.
func (t *turn) call(id, name string, hide bool) *toolCall {
	c := t.calls[id]
	if c == nil || c.done {
		c = &toolCall{id: id}
		t.calls[id], t.callOrder = c, append(t.callOrder, c)
		agentkit.CountKept(t.b, id, name)
	}
	if c.begun {
		return c
	}
	c.begun, c.hidden, c.name, c.args = true, hide, cmp.Or(name, c.name), nil // an input of the history is not on record
	if c.done = t.finished[id]; !c.done {
		known := t.tools.Classify(c.name, nil)
		t.to(hide).ToolCallStart(trace.ToolCallStart{ToolCallID: id, RawName: c.name, Name: known.Name, ToolKind: known.Kind})
	}
	return c
}

// shows reports whether the user has seen a call.
func (t *turn) shows(id string) bool { return t.calls[id] != nil && t.calls[id].begun }

// own returns a call of a message. A message has each of its calls once, however often the
// message comes.
func (t *turn) own(s *speech, id, name string) *toolCall {
	if s.own[id] == nil {
		t.endPart(s)
		t.speaks(s, s.id+":"+id)
		s.own[id] = t.call(id, name, s.hidden)
		agentkit.CountKept(t.b, id)
	}
	return s.own[id]
}

// chunk adds a piece of a call.
func (t *turn) chunk(s *speech, p callChunk) {
	c := s.calls[p.Index]
	if p.ID != "" && p.Name != "" && (c == nil || c.id != p.ID) {
		c = t.own(s, p.ID, p.Name)
		s.calls[p.Index] = c
		agentkit.CountKept(t.b, p.ID)
	}
	if c == nil || p.Args == "" {
		return
	}
	c.text.WriteString(string(p.Args))
	t.holds(c.hidden || c.done || s.resumed, len(p.Args))
	if !s.resumed {
		t.to(c.hidden).ToolCallDelta(c.id, string(p.Args))
	}
}

// input puts the whole input of a call on record. An input that a person changes later goes
// on record again.
func (t *turn) input(c *toolCall, args raw) {
	if len(args) == 0 || c.done {
		return
	}
	t.holds(c.hidden, len(args)-len(c.args))
	if !agentkit.SameJSON(args, c.args) {
		call := t.tools.Call(c.id, c.name, args)
		t.to(c.hidden).ToolCall(call)
		t.to(c.hidden).ToolCallUpdate(call)
	}
	c.args = args
}

// written takes the inputs that a message has streamed, if they are JSON. LangChain repairs
// others, and then the whole message has them.
func (t *turn) written(s *speech) {
	for _, at := range slices.Sorted(maps.Keys(s.calls)) {
		if c := s.calls[at]; c.args == nil && json.Valid([]byte(c.text.String())) {
			t.input(c, raw(c.text.String()))
		}
	}
}

// wholeCalls takes the calls of a whole message.
func (t *turn) wholeCalls(s *speech, m message) {
	for _, one := range m.calls {
		t.input(t.own(s, one.ID, one.Name), one.Args)
	}
	for _, one := range m.invalid {
		c := t.own(s, one.ID, one.Name)
		if c.args != nil || c.done {
			continue
		}
		broken := t.tools.Call(c.id, c.name, raw("{}"))
		broken.InputText = text(one.Args)
		t.to(c.hidden).ToolCall(broken)
		t.result(c, nil, "The model wrote arguments that are no JSON.")
	}
}

// result ends a call; failure is "" for a call that went well. The first result counts.
func (t *turn) result(c *toolCall, output raw, failure string) {
	if c.done {
		return
	}
	c.done = true
	r := trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted, Output: output}
	if failure != "" {
		r = trace.ToolResult{ToolCallID: c.id, Status: trace.ToolFailed, Error: failure}
	}
	t.to(c.hidden).ToolResult(r)
}

// answered takes the message with the result of a call.
func (t *turn) answered(m message, at place) {
	if m.callID == "" {
		return
	}
	c := t.foreign(m.callID, m.name, nil, at)
	t.close(func(s *speech) bool { return s.own[c.id] == c })
	failure := ""
	if m.failed {
		if failure = text(m.output); failure == "" {
			failure = string(m.output)
		}
	}
	t.result(c, m.output, failure)
}

// foreign returns the call that a tool itself names. The model's call may have come in an
// earlier stream, or not at all.
func (t *turn) foreign(id, name string, args raw, at place) *toolCall {
	var earlier raw
	if c := t.calls[id]; c != nil {
		if earlier = c.args; c.begun && (c.done || len(args) == 0) {
			return c
		}
	}
	c := t.call(id, name, !t.o.shows(at))
	t.input(c, args)
	for _, known := range []raw{earlier, raw("{}")} {
		if c.args == nil {
			t.input(c, known)
		}
	}
	return c
}

// pending finds the oldest call without a result that has this name and these arguments.
func (t *turn) pending(name string, args raw, fits func(*toolCall) bool) *toolCall {
	for _, c := range t.callOrder {
		if !c.done && c.name == name && fits(c) && agentkit.SameJSON(c.args, args) {
			return c
		}
	}
	return nil
}

// firstLine is an error without the stack trace that may follow.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
