package uiendpoint

import (
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// put puts a chunk into the message that the endpoint gets back, and on record. A chunk that
// makes no sense in the message is on record all the same.
func (w writer) put(c uistream.Chunk) {
	bare := uistream.Bare(c)
	if bare.Type() == "reset-step" && !w.reset() {
		return
	}
	_, begun := w.forms[uistream.CallOf(c)]
	_ = w.message.Add(c)
	if f, begins := uistream.FormOf(bare); begins && !begun {
		w.forms[uistream.CallOf(bare)] = f
	}
	if w.b == nil {
		return
	}
	if d, some := uistream.Beyond(c); some && !w.onRecord(c, begun) {
		w.b.Emit(d)
	}
	switch p := bare.(type) { //nolint:gochecksumtype // Beyond has all of the others
	case uistream.StartStep:
		w.b.StepStart(trace.Step{Phase: trace.PhaseStart})
	case uistream.TextDelta:
		w.b.MessageDelta(p.ID, p.Delta)
	case uistream.TextEnd:
		w.b.MessageEnd(p.ID)
	case uistream.ReasoningDelta:
		w.b.ThoughtDelta(p.ID, p.Delta)
	case uistream.ReasoningEnd:
		w.b.ThoughtEnd(p.ID, "")
	case uistream.SourceURL:
		w.b.Emit(trace.Source{SourceID: p.SourceID, URL: p.URL, Title: p.Title})
	case uistream.SourceDocument:
		w.b.Emit(trace.Source{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename})
	case uistream.File:
		w.b.Emit(trace.File{URL: p.URL, MediaType: p.MediaType})
	case uistream.Data:
		if uistream.Reserved(p.Name) {
			p.Name += "-"
		}
		w.b.Emit(trace.Data{Name: p.Name, ID: p.ID, Value: p.Value, Transient: p.Transient})
	case uistream.ToolInputStart:
		w.b.ToolCallStart(trace.ToolCallStart{ToolCallID: p.ToolCallID, RawName: p.ToolName, ToolKind: w.tools.Kind(p.ToolName), Title: p.Title})
	case uistream.ToolInputDelta:
		w.b.ToolCallDelta(p.ToolCallID, p.Delta)
	case uistream.ToolInputAvailable:
		w.call(p.ToolCallID, p.ToolName, p.Title, p.Input)
	case uistream.ToolInputError:
		w.call(p.ToolCallID, p.ToolName, p.Title, p.Input)
		w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
	case uistream.ToolOutputAvailable:
		if p.Preliminary {
			w.b.ToolResultProgress(p.ToolCallID, p.Output)
			return
		}
		w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolCompleted, Output: p.Output})
	case uistream.ToolOutputError:
		w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
	case uistream.ToolOutputDenied:
		w.b.Denied(p.ToolCallID, "")
	}
}

// onRecord reports whether the keys of a chunk are on record already. The form of a call
// stands with the call's beginning. The answer to a person's approval is the gateway's own.
func (w writer) onRecord(c uistream.Chunk, begun bool) bool {
	if _, whole := c.(uistream.ToolInputAvailable); whole {
		return begun
	}
	response, answers := uistream.Bare(c).(uistream.ToolApprovalResponse)
	return answers && !slices.ContainsFunc(w.message.Message().Parts, func(p uistream.Part) bool {
		return automatic(p) && p.Approval.ID == response.ApprovalID
	})
}

func (w writer) call(id, name, title string, input json.RawMessage) {
	c := w.tools.Call(id, name, input)
	if c.Name = name; title != "" || !w.tools.Knows(name) {
		c.Title = title
	}
	w.b.ToolCall(c)
}

// reset begins the step once more. The calls of the failed try are over. It reports false if
// the step has nothing to begin once more.
func (w writer) reset() bool {
	w.endParts()
	parts := step(w.message.Message().Parts)
	for _, p := range parts {
		if p.ToolCallID != "" && !slices.Contains([]string{"output-available", "output-error", "output-denied"}, p.State) && w.b != nil {
			w.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolCanceled, Error: "The endpoint began the step once more."})
		}
	}
	return len(parts) > 0
}

// step are the parts of the last step.
func step(parts []uistream.Part) []uistream.Part {
	for i, p := range slices.Backward(parts) {
		if p.Type == "step-start" {
			return parts[i+1:]
		}
	}
	return parts
}
