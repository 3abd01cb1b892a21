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
	args     raw
	text     strings.Builder // of the input, as it grows
	shown    shown
	begun    bool // the user has seen it, unless it is hidden
	whole    bool // the input is on record
	done     bool
	refused  bool // by a person
	failing  bool // the tool has failed, and why is not known yet
}

// call returns the call of an id, and begins it if need be. A model may use an id again
// once the call has its result.
func (t *turn) call(id, name string, how shown) *toolCall {
	c := t.calls[id]
	if c == nil || c.done && c.shown != past {
		c = &toolCall{id: id}
		t.calls[id] = c
	}
	if c.begun {
		return c
	}
	c.begun, c.shown, c.name = true, how, cmp.Or(name, c.name)
	if t.finished[id] {
		c.shown, c.done = past, true
	}
	if !slices.Contains(t.callOrder, c) {
		t.callOrder = append(t.callOrder, c)
	}
	if c.shown == flat {
		known := t.tools.Classify(c.name, nil)
		t.b.ToolCallStart(trace.ToolCallStart{ToolCallID: id, RawName: c.name, Name: known.Name, ToolKind: known.Kind})
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
		s.own[id] = t.call(id, name, s.shown)
	}
	return s.own[id]
}

// chunk adds a piece of a call.
func (t *turn) chunk(s *speech, p callChunk) {
	c := s.calls[p.Index]
	if p.ID != "" && p.Name != "" && (c == nil || c.id != p.ID) {
		c = t.own(s, p.ID, p.Name)
		s.calls[p.Index] = c
	}
	if c == nil || p.Args == "" {
		return
	}
	c.text.WriteString(string(p.Args))
	if c.shown == flat && !s.resumed {
		t.b.ToolCallDelta(c.id, string(p.Args))
	}
}

// input puts the whole input of a call on record. An input that changes later, by the hand
// of a person, goes on record again.
func (t *turn) input(c *toolCall, args raw) {
	if len(args) == 0 || c.done || c.whole && agentkit.SameJSON(args, c.args) {
		return
	}
	if c.args, c.whole = args, true; c.shown == flat {
		call := t.tools.Call(c.id, c.name, args)
		t.b.ToolCall(call)
		t.b.ToolCallUpdate(call)
	}
}

// written takes the inputs that a message has streamed, if they are JSON. LangChain repairs
// others, and then the whole message has them.
func (t *turn) written(s *speech) {
	for _, at := range slices.Sorted(maps.Keys(s.calls)) {
		c := s.calls[at]
		if args := c.text.String(); !c.whole && json.Valid([]byte(args)) {
			t.input(c, raw(args))
		}
	}
}

// wholeCalls takes the calls of a whole message.
func (t *turn) wholeCalls(s *speech, m message) {
	for _, one := range m.calls {
		if one.ID != "" {
			t.input(t.own(s, one.ID, one.Name), one.Args)
		}
	}
	for _, one := range m.invalid {
		if c := s.own[one.ID]; one.ID == "" || c != nil && c.whole {
			continue
		}
		c := t.own(s, one.ID, one.Name)
		c.whole = true
		if c.shown == flat {
			broken := t.tools.Call(c.id, c.name, raw("{}"))
			broken.InputText = text(one.Args)
			t.b.ToolCall(broken)
		}
		t.result(c, nil, "The model wrote arguments that are no JSON.")
	}
}

// result ends a call; failure is "" for a call that went well. The first result counts.
func (t *turn) result(c *toolCall, output raw, failure string) {
	if c.done {
		return
	}
	c.done = true
	if c.shown != flat && c.shown != past {
		return
	}
	switch {
	case failure == "":
		t.b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted, Output: output})
	case c.refused:
		t.b.Denied(c.id, failure)
	default:
		t.b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolFailed, Error: failure})
	}
}

// answered takes the message with the result of a call.
func (t *turn) answered(m message, at place) {
	if m.callID == "" {
		return
	}
	c := t.foreign(m.callID, m.name, nil, at)
	t.close(func(s *speech) bool { return s.own[c.id] == c })
	if m.failed {
		failure := text(m.output)
		if failure == "" {
			failure = string(m.output)
		}
		t.result(c, nil, failure)
		return
	}
	t.result(c, m.output, "")
}

// foreign returns the call that a tool itself names. The model's call may have come in an
// earlier stream, or not at all.
func (t *turn) foreign(id, name string, args raw, at place) *toolCall {
	how := flat
	if !t.o.shows(at) {
		how = hidden
	}
	c := t.calls[id]
	if c != nil && c.begun && (c.done || len(args) == 0) {
		return c
	}
	c = t.call(id, name, how)
	switch {
	case len(args) > 0:
		t.input(c, args)
	case c.whole:
	case len(c.args) > 0:
		t.input(c, c.args)
	default:
		t.input(c, raw("{}"))
	}
	return c
}

// pending finds the oldest call without a result that has this name and these arguments.
func (t *turn) pending(name string, args raw, fits func(*toolCall) bool) *toolCall {
	for _, c := range t.callOrder {
		if !c.done && c.name == name && fits(c) && (agentkit.SameJSON(c.args, args) || !c.whole && agentkit.SameJSON(raw(c.text.String()), args)) {
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
