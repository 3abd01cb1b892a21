package uiendpoint

import (
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// put puts a chunk into the message that the endpoint gets back, and on record. A chunk that
// makes no sense in the message is on record all the same.
func (d *Decoder) put(c uistream.Chunk) {
	bare := uistream.Bare(c)
	if bare.Type() == "reset-step" && !d.reset() {
		return
	}
	_, begun := d.forms[uistream.CallOf(c)]
	_ = d.message.Add(c)
	if f, begins := formOf(bare); begins && !begun {
		d.forms[uistream.CallOf(bare)] = f
	}
	if d.b == nil {
		return
	}
	d.b.Hold(kept(bare, d.size))
	if data, some := uistream.Beyond(c); some && !d.onRecord(c, begun) {
		d.b.EmitOwn(data)
	}
	switch p := bare.(type) { //nolint:gochecksumtype // Beyond has all of the others
	case uistream.StartStep:
		d.b.StepStart(trace.Step{Phase: trace.PhaseStart})
	case uistream.TextDelta:
		d.b.MessageDelta(p.ID, p.Delta)
	case uistream.TextEnd:
		d.b.MessageEnd(p.ID)
	case uistream.ReasoningDelta:
		d.b.ThoughtDelta(p.ID, p.Delta)
	case uistream.ReasoningEnd:
		d.b.ThoughtEnd(p.ID, "")
	case uistream.SourceURL:
		d.b.Emit(trace.Source{SourceID: p.SourceID, URL: p.URL, Title: p.Title})
	case uistream.SourceDocument:
		d.b.Emit(trace.Source{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename})
	case uistream.File:
		d.b.Emit(trace.File{URL: p.URL, MediaType: p.MediaType})
	case uistream.Data:
		d.b.Emit(trace.Data{Name: p.Name, ID: p.ID, Value: p.Value, Transient: p.Transient})
	case uistream.ToolInputStart:
		d.b.ToolCallStart(trace.ToolCallStart{ToolCallID: p.ToolCallID, RawName: p.ToolName, ToolKind: d.tools.Kind(p.ToolName), Title: p.Title})
	case uistream.ToolInputDelta:
		d.b.ToolCallDelta(p.ToolCallID, p.Delta)
	case uistream.ToolInputAvailable:
		d.call(p.ToolCallID, p.ToolName, p.Title, p.Input)
	case uistream.ToolInputError:
		d.call(p.ToolCallID, p.ToolName, p.Title, p.Input)
		d.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
	case uistream.ToolOutputAvailable:
		if p.Preliminary {
			d.b.ToolResultProgress(p.ToolCallID, p.Output)
			return
		}
		d.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolCompleted, Output: p.Output})
	case uistream.ToolOutputError:
		d.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolFailed, Error: p.ErrorText})
	case uistream.ToolOutputDenied:
		d.b.Denied(p.ToolCallID, "")
	}
}

// partSize is about how many bytes a part costs beside its content.
const partSize = 256

// kept is how many bytes of a chunk the message that the endpoint gets back has for good.
// The parameter size is that of the chunk as it came.
func kept(c uistream.Chunk, size int) int {
	switch c := c.(type) { //nolint:gochecksumtype // the others are kept
	case uistream.ToolInputDelta:
		return 0
	case uistream.TextDelta:
		return len(c.Delta)
	case uistream.ReasoningDelta:
		return len(c.Delta)
	case uistream.Data:
		if c.Transient {
			return 0
		}
	case uistream.ToolOutputAvailable:
		if c.Preliminary {
			return 0
		}
	}
	return partSize + size
}

// onRecord reports whether the keys of a chunk are on record already. The form of a call
// stands with the call's beginning. The answer to a person's approval is the gateway's own.
func (d *Decoder) onRecord(c uistream.Chunk, begun bool) bool {
	if _, whole := c.(uistream.ToolInputAvailable); whole {
		return begun
	}
	response, answers := uistream.Bare(c).(uistream.ToolApprovalResponse)
	return answers && !slices.ContainsFunc(d.message.Parts(), func(p uistream.Part) bool {
		return automatic(p) && p.Approval.ID == response.ApprovalID
	})
}

func (d *Decoder) call(id, name, title string, input json.RawMessage) {
	c := d.tools.Call(id, name, input)
	if c.Name = name; title != "" || !d.tools.Knows(name) {
		c.Title = title
	}
	d.b.ToolCall(c)
}

// reset begins the step once more. The calls of the failed try are over. It reports false if
// the step has nothing to begin once more.
func (d *Decoder) reset() bool {
	d.endParts()
	parts := step(d.message.Parts())
	for _, p := range parts {
		if p.ToolCallID != "" && !slices.Contains([]string{"output-available", "output-error", "output-denied"}, p.State) && d.b != nil {
			d.b.ToolResult(trace.ToolResult{ToolCallID: p.ToolCallID, Status: trace.ToolCanceled, Error: "The endpoint began the step once more."})
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
