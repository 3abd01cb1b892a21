package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// This file writes the tool calls of a turn.

// call is a tool call of the turn.
type call struct {
	tool     ToolCall // as far as it is known
	by       author   // who made it
	event    string   // the id of the event to cite as its parent
	text     strings.Builder
	half     string
	whole    bool
	done     bool
	requests []*request
	held     int // bytes that count as held

	writing bool            // its input grows before the eyes of the client
	draft   json.RawMessage // the newest snapshot of an input that is not whole
	refused string          // why it may not run
	output  *output         // what it printed, if that came as increments
}

// ToolCallStart says that the agent begins to write a call.
func (b *Builder) ToolCallStart(s ToolCallStart) {
	b.do(func(t *turn) {
		if c, ok := t.calls[s.ToolCallID]; ok && !c.done {
			t.counts.Repeated++
			return
		}
		t.beginCall(b.newCall(t, ToolCall{ToolCallID: s.ToolCallID, RawName: s.RawName, Name: s.Name, ToolKind: s.ToolKind, Title: s.Title}))
	})
}

// beginCall says that the input of a call is being written.
func (t *turn) beginCall(c *call) {
	c.write(t)
	c.event = t.emitAs(c.by, ToolCallStart{ToolCallID: c.tool.ToolCallID, RawName: c.tool.RawName, Name: c.tool.Name, ToolKind: c.tool.ToolKind, Title: c.tool.Title})
}

// newCall registers a call under a unique id and fills in what is missing.
func (b *Builder) newCall(t *turn, tc ToolCall) *call {
	by := b.author(t)
	t.ensureStep(by)
	key := tc.ToolCallID
	var renamed bool
	if tc.ToolCallID, renamed = t.callNames.unique(cmp.Or(key, "call")); renamed {
		t.counts.Renamed++
	}
	tc.RawName = cmp.Or(tc.RawName, "tool")
	tc.Name = agentToolName(cmp.Or(tc.Name, tc.RawName))
	tc.ToolKind = tc.ToolKind.normalized()
	c := &call{tool: tc, by: by}
	t.calls[key] = c
	t.order = append(t.order, c)
	t.weigh(c)
	return c
}

// current returns the call that is not over under the agent's id, or a new one.
func (b *Builder) current(t *turn, toolCallID string) *call {
	if c, ok := t.calls[toolCallID]; ok && !c.done {
		return c
	}
	return b.newCall(t, ToolCall{ToolCallID: toolCallID})
}

// openCall returns the call that is not over under the agent's id. Without one it returns nil, and counts an orphan.
func (t *turn) openCall(toolCallID string) *call {
	c := t.calls[toolCallID]
	if c == nil || c.done {
		t.counts.Orphans++
		return nil
	}
	return c
}

// ToolCallDelta adds to the text of a call's input.
func (b *Builder) ToolCallDelta(toolCallID, delta string) {
	b.do(func(t *turn) {
		c, ok := t.calls[toolCallID]
		if !ok || c.whole {
			t.counts.Orphans++
			return
		}
		text, half := splitPartialRune(c.half + delta)
		c.half = half
		if text == "" {
			return
		}
		t.growInput(c, text)
	})
}

// growInput adds to the text of a call's input, as far as the input may grow.
func (t *turn) growInput(c *call, text string) {
	if c.text.Len()+len(text) > t.MaxEvent {
		t.tooLarge()
		return
	}
	c.text.WriteString(text)
	t.hold(weightOfDelta)
	t.weigh(c)
	t.emitAs(c.by, ToolCallDelta{ToolCallID: c.tool.ToolCallID, Delta: text})
}

// ToolCall gives a whole call. Its input wins over the deltas. A second whole of
// a call that has no result is a repetition and is dropped.
func (b *Builder) ToolCall(tc ToolCall) {
	b.do(func(t *turn) {
		c, ok := t.calls[tc.ToolCallID]
		switch {
		case ok && c.whole && !c.done:
			t.counts.Repeated++
			return
		case !ok || c.done:
			c = b.newCall(t, tc)
		default:
			c.merge(tc)
		}
		c.tool.Input, c.tool.InputText, c.tool.Locations = t.boundInput(CompactJSON(tc.Input)), t.cutText(tc.InputText), tc.Locations
		if len(tc.ProviderState) > 0 && len(tc.ProviderState) <= t.MaxEvent {
			c.tool.ProviderState = CompactJSON(tc.ProviderState)
		}
		t.putCall(c)
	})
}

// merge takes over what the whole knows better than the start.
func (c *call) merge(tc ToolCall) {
	c.tool.RawName, c.tool.Title = cmp.Or(tc.RawName, c.tool.RawName), cmp.Or(tc.Title, c.tool.Title)
	if tc.Name != "" {
		c.tool.Name = agentToolName(tc.Name)
	}
	if tc.ToolKind != "" {
		c.tool.ToolKind = tc.ToolKind.normalized()
	}
}

// revise puts the call on record again if the agent asks to run another tool or
// another input than it has shown.
func (t *turn) revise(c *call, asked ToolCall) {
	input := t.boundInput(CompactJSON(asked.Input))
	same := asked.RawName == "" || asked.RawName == c.tool.RawName
	if len(asked.Input) == 0 {
		input, asked.Locations = c.tool.Input, c.tool.Locations
	}
	if same && bytes.Equal(input, c.tool.Input) {
		return
	}
	c.merge(asked)
	c.tool.Input, c.tool.InputText, c.tool.Locations = input, "", asked.Locations
	t.putTool(c)
}

// putTool puts the call on record as it now is.
func (t *turn) putTool(c *call) {
	t.weigh(c)
	c.event = t.emitAs(c.by, c.tool)
}

func (t *turn) putCall(c *call) {
	c.whole, c.draft = true, nil
	c.text.Reset()
	t.running++
	t.putTool(c)
	if t.stopWriting(c) {
		t.showNext()
	}
}

// write notes that the client sees the call's input grow.
func (c *call) write(t *turn) {
	if !c.by.subagent() {
		c.writing = true
		t.writing++
	}
}

// stopWriting notes that the input grows no more, and reports whether it did.
func (t *turn) stopWriting(c *call) (did bool) {
	if did = c.writing; did {
		c.writing = false
		t.writing--
	}
	return did
}

// completeCall writes the whole of a call that was only begun.
func (t *turn) completeCall(c *call) {
	if c.whole {
		return
	}
	switch text := c.text.String(); {
	case json.Valid([]byte(text)):
		c.tool.Input = CompactJSON(json.RawMessage(text))
	case c.draft != nil:
		c.tool.Input = c.draft
	default:
		c.tool.Input, c.tool.InputText = json.RawMessage("{}"), text
	}
	t.putCall(c)
}

// ToolResultProgress gives the output of a running call so far.
func (b *Builder) ToolResultProgress(toolCallID string, output json.RawMessage) {
	b.do(func(t *turn) {
		if c := t.openCall(toolCallID); c != nil {
			t.completeCall(c)
			t.put(c.event, c.by.actor(), ToolResultProgress{ToolCallID: c.tool.ToolCallID, Output: t.cut(output)})
		}
	})
}

// ToolResult ends a call. The first result counts. A result without a call gets
// one, so that nothing the agent did is lost.
func (b *Builder) ToolResult(r ToolResult) {
	b.do(func(t *turn) {
		c, ok := t.calls[r.ToolCallID]
		if ok && c.done {
			t.counts.Repeated++
			return
		}
		if !ok {
			t.counts.Orphans++
			c = b.newCall(t, ToolCall{ToolCallID: r.ToolCallID})
		}
		t.result(c, r)
	})
}

// result ends a call: it closes the call's requests and releases the call's memory.
func (t *turn) result(c *call, r ToolResult) {
	t.completeCall(c)
	for _, q := range c.requests {
		t.cancelRequest(q)
	}
	if c.output != nil && string(CompactJSON(r.Output)) == "null" {
		r.Output = c.output.whole()
	}
	if r = r.normalized(); r.Status != ToolCompleted && c.refused != "" {
		if r.Status == ToolCanceled {
			r.Error = c.refused
		}
		r.Status = ToolDenied
	}
	r.ToolCallID, r.Output, r.Error = c.tool.ToolCallID, t.cut(r.Output), t.cutText(r.Error)
	t.put(c.event, c.by.actor(), r)
	t.closeCall(c)
	t.weigh(c)
}

// closeCall frees what a call holds that has its result.
func (t *turn) closeCall(c *call) {
	t.running--
	c.done, c.requests, c.output = true, nil, nil
	c.tool.Input, c.tool.InputText, c.tool.Locations, c.tool.ProviderState = nil, "", nil, nil
}
