package trace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// This file takes the input of a call as a growing object, and changes of a call.

// ToolCallSnapshot gives the input of a call so far, as an object that grows. The
// text that a snapshot adds at its end becomes a delta. A snapshot that contradicts
// the deltas so far adds no delta: the whole call decides, or else the newest
// snapshot. A call that has not begun begins with its first snapshot.
func (b *Builder) ToolCallSnapshot(toolCallID string, input json.RawMessage) {
	b.do(func(t *turn) {
		c, ok := t.calls[toolCallID]
		if !ok || c.done {
			c = b.newCall(t, ToolCall{ToolCallID: toolCallID})
			t.beginCall(c)
		}
		t.snapshot(c, input)
	})
}

// snapshot takes the input so far of a call that is being written.
func (t *turn) snapshot(c *call, input json.RawMessage) {
	clean := CompactJSON(input)
	switch {
	case c.whole, bytes.Equal(clean, c.draft):
		t.counts.Repeated++
		return
	case clean[0] != '{':
		t.counts.Contradicted++
		return
	}
	if len(clean) > t.MaxEvent {
		t.tooLarge()
		return
	}
	c.draft = clean
	t.weigh(c)
	more, grows := strings.CutPrefix(unclosed(clean), c.text.String())
	switch {
	case !grows:
		t.counts.Contradicted++
	case more != "":
		t.growInput(c, more)
	}
}

// unclosed is an object without what closes it: the next snapshot may go on there.
func unclosed(object json.RawMessage) string { return strings.TrimRight(string(object), `"}]`) }

// ToolCallUpdate changes a call that has begun and is not over. Fields that are empty
// stay what they are. The input of a call that is still being written is a snapshot. A
// whole call goes on record again if a field differs, once for each change.
func (b *Builder) ToolCallUpdate(tc ToolCall) {
	b.do(func(t *turn) {
		c := t.openCall(tc.ToolCallID)
		if c == nil {
			return
		}
		was := c.tool
		c.merge(tc)
		if tc.Locations != nil {
			c.tool.Locations = tc.Locations
		}
		switch {
		case len(tc.Input) == 0:
		case c.whole:
			c.tool.Input, c.tool.InputText = t.boundInput(CompactJSON(tc.Input)), ""
		default:
			t.snapshot(c, tc.Input)
		}
		if c.whole && !c.tool.same(was) {
			t.putTool(c)
		}
	})
}

// same reports whether a call on record says all that this one does.
func (tc ToolCall) same(was ToolCall) bool {
	return tc.RawName == was.RawName && tc.Name == was.Name && tc.ToolKind == was.ToolKind && tc.Title == was.Title &&
		bytes.Equal(tc.Input, was.Input) && slices.Equal(tc.Locations, was.Locations)
}
