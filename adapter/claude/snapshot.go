package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// synthetic is the model's name in messages that no model wrote.
const synthetic = "<synthetic>"

// snapshot takes an assistant line: one whole block of a message, rarely more.
func (d *Decoder) snapshot(l line, t agent.Turns) {
	msg := l.Message
	if msg.Model == synthetic {
		text := strings.TrimSpace(msg.Content.text())
		if l.IsAPIError || len(l.Error) > 0 && string(l.Error) != "null" || strings.HasPrefix(text, "API Error") {
			if c := d.need(t); c != nil {
				c.fault = failure{text: text, word: plainText(orNull(l.Error)), status: l.Status, detail: l.APIError}
				c.b.Touch()
			}
			return
		}
		if text == "No response requested." {
			agentkit.Touch(t)
			return
		}
	}
	if len(msg.Content) == 0 {
		agentkit.Touch(t)
		return
	}
	c := d.need(t)
	if c == nil {
		return
	}
	if word := plainText(orNull(l.Error)); word != "" { // the text is shown as the model's
		c.fault.word, c.fault.status, c.fault.detail = word, l.Status, l.APIError
	}
	s := d.speaker(c, l.Parent)
	m := s.messages[msg.ID]
	if m == nil {
		if s.main {
			d.spoke(msg.Model, t)
		}
		m = d.begin(c, s, msg, false)
	}
	for _, b := range msg.Content {
		d.wholeBlock(c, s, m, b)
	}
	if !m.streamed {
		d.used(c, m, msg.Usage, msg.StopReason)
		s.b.StepFinish(msg.StopReason)
	}
}

// wholeBlock takes a block that is complete.
func (d *Decoder) wholeBlock(c *turn, s *speaker, m *reply, b block) {
	p := m.match(b)
	if p == nil {
		p = s.open(m, pieceType(b.Type))
	}
	p.snapped = true
	switch p.typ {
	case "text":
		c.shown = c.shown || s.main && b.Text != ""
		s.b.Message(p.key, string(b.Text))
		for _, cited := range b.Citations {
			c.cite(s.b, cited)
		}
	case "thinking":
		s.b.Thought(p.key, string(b.Thinking), cmp.Or(b.Signature, p.signature))
	case "tool":
		if p.tool.ToolCallID == "" {
			p.tool = d.startCall(p, b)
		}
		d.wholeCall(c, s, p.tool, b.Input)
	default:
		d.other(c, s, b)
	}
}

// match finds the streamed piece that a whole block repeats. Blocks of a type
// come in the order of the stream; calls are known by their ids.
func (m *reply) match(b block) *piece {
	typ := pieceType(b.Type)
	for _, p := range m.pieces {
		if p.typ != typ || p.snapped || typ == "tool" && b.ID != "" && p.tool.ToolCallID != b.ID {
			continue
		}
		return p
	}
	return nil
}

// startCall makes a call of a block that begins it.
func (d *Decoder) startCall(p *piece, b block) trace.ToolCall {
	name := b.Name
	if b.Server != "" {
		name = "mcp__" + b.Server + "__" + b.Name
	}
	return d.tools.Call(cmp.Or(b.ID, "call-"+p.key), name, nil)
}

// wholeCall writes a call with its input, once.
func (d *Decoder) wholeCall(c *turn, s *speaker, tc trace.ToolCall, input raw) {
	if known, ok := d.calls[tc.ToolCallID]; ok && known.turn == c.b.Turn() {
		s.b.Touch()
		return
	}
	tc = d.tools.Call(tc.ToolCallID, tc.RawName, input)
	s.b.ToolCall(tc)
	c.calls[tc.ToolCallID] = true
	d.calls[tc.ToolCallID] = &call{ToolCall: tc, turn: c.b.Turn(), first: c.b.Turn(), parent: s.parent}
	if tc.RawName == "TodoWrite" && s.main {
		var in struct{ Todos []trace.PlanEntry }
		if json.Unmarshal(input, &in) == nil && in.Todos != nil {
			s.b.Emit(trace.Plan{Entries: in.Todos})
		}
	}
}
