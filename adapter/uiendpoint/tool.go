package uiendpoint

import (
	"bytes"
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// ofCall takes a chunk of a tool call.
func (w writer) ofCall(c uistream.Chunk) bool {
	if known := w.calls[uistream.CallOf(c)]; known != nil {
		c = uistream.WithForm(c, known.form)
	}
	bare := uistream.Bare(c)
	switch p := bare.(type) { //nolint:gochecksumtype // the others are not of a call
	case uistream.ToolInputStart:
		if w.fresh(c, bare, p.ToolCallID) {
			w.called(p.ToolCallID, p.ToolName, p.Form)
			w.beyond(c)
			w.b.ToolCallStart(trace.ToolCallStart{ToolCallID: p.ToolCallID, RawName: p.ToolName, ToolKind: w.tools.Kind(p.ToolName), Title: p.Title})
		}
	case uistream.ToolInputDelta:
		w.input(p)
	case uistream.ToolInputAvailable:
		if w.fresh(c, bare, p.ToolCallID) {
			begun := w.calls[p.ToolCallID]
			w.called(p.ToolCallID, p.ToolName, p.Form).whole = true
			if begun == nil || !isBare(c) {
				w.beyond(c)
			}
			w.b.ToolCall(w.callOf(p.ToolCallID, p.ToolName, p.Title, p.Input))
		}
	case uistream.ToolInputError:
		if w.fresh(c, bare, p.ToolCallID) {
			w.called(p.ToolCallID, p.ToolName, p.Form).settle()
			w.beyond(c)
			w.b.ToolCall(w.callOf(p.ToolCallID, p.ToolName, p.Title, p.Input))
			w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
		}
	case uistream.ToolOutputAvailable:
		w.output(c, p)
	case uistream.ToolOutputError:
		if w.fresh(c, bare, p.ToolCallID) {
			w.called(p.ToolCallID, "", p.Form).settle()
			w.beyond(c)
			w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
		}
	case uistream.ToolOutputDenied:
		if w.fresh(c, bare, p.ToolCallID) {
			w.called(p.ToolCallID, "", uistream.Form{}).settle()
			w.b.Denied(p.ToolCallID, "")
		}
	case uistream.ToolApprovalRequest:
		if w.fresh(c, bare, p.ApprovalID) {
			w.approval(c, p)
		}
	case uistream.ToolApprovalResponse:
		if w.fresh(c, bare, p.ApprovalID) && w.answersItself(p.ApprovalID) {
			w.beyond(c)
		}
	default:
		return false
	}
	return true
}

// fresh counts a chunk of a call, and keeps one that is new for the message.
func (w writer) fresh(c, bare uistream.Chunk, id string) bool {
	if !w.place.fresh(bare.Type() + " " + id) {
		return false
	}
	w.joins, w.filled = 0, true
	w.say(c)
	return true
}

func isBare(c uistream.Chunk) bool {
	_, extended := c.(uistream.Extended)
	return !extended
}

// called is the call of that id. A result without a call makes one, as the Builder does.
func (w writer) called(id, name string, f uistream.Form) *call {
	c := w.calls[id]
	if c == nil {
		c = &call{id: id}
		w.calls[id] = c
		w.Decoder.order = append(w.order, c)
	}
	if name != "" && c.name == "" {
		c.name, c.form, c.step = name, f, w.steps
	}
	return c
}

// settle notes the outcome of a call.
func (c *call) settle() { c.whole, c.done = true, true }

func (w writer) callOf(id, name, title string, input json.RawMessage) trace.ToolCall {
	tc := w.tools.Call(id, name, input)
	if tc.Name = name; title != "" || !w.tools.Knows(name) {
		tc.Title = title
	}
	return tc
}

// input takes a piece of a call's input.
func (w writer) input(p uistream.ToolInputDelta) {
	if w.calls[p.ToolCallID] == nil {
		w.ofCall(uistream.ToolInputStart{ToolCallID: p.ToolCallID})
	}
	if n := w.place.advance("input "+p.ToolCallID, len(p.Delta)); n > 0 {
		w.joins = 0
		w.b.ToolCallDelta(p.ToolCallID, p.Delta[len(p.Delta)-n:])
	}
}

func (w writer) output(c uistream.Chunk, p uistream.ToolOutputAvailable) {
	if p.Preliminary {
		if w.place.fresh("preliminary " + p.ToolCallID) {
			w.say(c)
			w.b.ToolResultProgress(p.ToolCallID, p.Output)
		}
		return
	}
	if w.fresh(c, p, p.ToolCallID) {
		w.called(p.ToolCallID, "", p.Form).settle()
		w.beyond(c)
		w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolCompleted, Output: p.Output})
	}
}

// approval takes a request. The user is asked when the run has ended.
func (w writer) approval(c uistream.Chunk, p uistream.ToolApprovalRequest) {
	w.beyond(c)
	e, extended := c.(uistream.Extended)
	automatic := extended && bytes.Equal(e.Keys["isAutomatic"], []byte("true"))
	w.Decoder.waits = append(w.waits, &wait{id: p.ApprovalID, call: w.called(p.ToolCallID, "", uistream.Form{}), approval: true, automatic: automatic, asked: automatic, done: automatic})
}

// answersItself reports whether the endpoint answers a request of its own.
func (w writer) answersItself(approval string) bool {
	for _, a := range w.waits {
		if a.id == approval {
			return a.automatic
		}
	}
	return false
}
