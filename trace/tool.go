package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// call is a tool call of the turn.
type call struct {
	ToolCall
	by    Builder // the view that made it
	event string  // the id of the event to cite as its parent
	text  strings.Builder
	half  string
	whole bool
	done  bool
}

// ToolCallStart says that the agent begins to write a call.
func (b *Builder) ToolCallStart(s ToolCallStart) {
	b.do(func(t *turn) {
		if c, ok := t.calls[s.ToolCallID]; ok && !c.done {
			t.counts.Repeated++
			return
		}
		b.startCall(t, s)
	})
}

func (b *Builder) startCall(t *turn, s ToolCallStart) *call {
	c := b.newCall(t, ToolCall{ToolCallID: s.ToolCallID, RawName: s.RawName, Name: s.Name, ToolKind: s.ToolKind, Title: s.Title})
	s.ToolCallID, s.Name, s.ToolKind = c.ToolCallID, c.Name, c.ToolKind
	c.event = b.say(t, s)
	return c
}

// newCall registers a call under a unique id and fills in what is missing.
func (b *Builder) newCall(t *turn, tc ToolCall) *call {
	b.ensureStep(t)
	key := tc.ToolCallID
	tc.ToolCallID = t.unique(key)
	if tc.RawName == "" {
		tc.RawName = "tool"
	}
	if tc.Name == "" {
		tc.Name = tc.RawName
	}
	if tc.ToolKind == "" {
		tc.ToolKind = ToolOther
	}
	c := &call{ToolCall: tc, by: *b}
	t.calls[key] = c
	t.order = append(t.order, c)
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
		text, half := splitHalf(c.half + delta)
		c.half = half
		if text == "" {
			return
		}
		c.text.WriteString(text)
		c.by.say(t, ToolCallDelta{ToolCallID: c.ToolCallID, Delta: text})
	})
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
		c.Input, c.Locations = Opaque(tc.Input), tc.Locations
		t.putCall(c)
	})
}

// merge takes over what the whole knows better than the start.
func (c *call) merge(tc ToolCall) {
	if tc.RawName != "" {
		c.RawName = tc.RawName
	}
	if tc.Name != "" {
		c.Name = tc.Name
	}
	if tc.ToolKind != "" {
		c.ToolKind = tc.ToolKind
	}
	if tc.Title != "" {
		c.Title = tc.Title
	}
}

func (t *turn) putCall(c *call) {
	c.whole = true
	c.event = c.by.say(t, c.ToolCall)
}

// completeCall writes the whole of a call that was only begun.
func (t *turn) completeCall(c *call) {
	if c.whole {
		return
	}
	text := c.text.String()
	if json.Valid([]byte(text)) {
		c.Input = Opaque(json.RawMessage(text))
	} else {
		c.Input, c.InputText = json.RawMessage("{}"), text
	}
	t.putCall(c)
}

// ToolResultProgress gives the output of a running call so far.
func (b *Builder) ToolResultProgress(toolCallID string, output json.RawMessage) {
	b.do(func(t *turn) {
		c, ok := t.calls[toolCallID]
		if !ok || c.done {
			t.counts.Orphans++
			return
		}
		t.completeCall(c)
		t.put(c.event, c.by.actor(t), ToolResultProgress{ToolCallID: c.ToolCallID, Output: t.cut(output)})
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

func (t *turn) result(c *call, r ToolResult) {
	t.completeCall(c)
	c.done = true
	for _, q := range t.asked {
		if q.toolCall == c {
			t.closeAsk(q)
		}
	}
	r.ToolCallID, r.Output = c.ToolCallID, t.cut(r.Output)
	if r.Status != ToolCompleted && r.Error == "" {
		r.Error = "The tool call ended as " + string(r.Status) + "."
	}
	t.put(c.event, c.by.actor(t), r)
}

// cut bounds a tool's output.
func (t *turn) cut(output json.RawMessage) json.RawMessage {
	if len(output) <= t.MaxEvent {
		return Opaque(output)
	}
	t.counts.Cut++
	head := strings.ToValidUTF8(string(output[:t.MaxEvent]), "")
	quoted, err := marshal(head + "…[cut by the gateway: the output was too large]")
	if err != nil {
		return json.RawMessage(`"[cut by the gateway: the output was too large]"`)
	}
	return quoted
}

// Opaque makes any bytes a JSON value on one line: JSON stays what it is, byte
// for byte but for white space, and anything else becomes a string.
func Opaque(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("null")
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err == nil && utf8.Valid(out.Bytes()) {
		return out.Bytes()
	}
	quoted, err := marshal(strings.ToValidUTF8(string(raw), string(utf8.RuneError)))
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}
