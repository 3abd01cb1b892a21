package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// speaker is the agent itself or one of its sub-agents.
type speaker struct {
	b        *trace.Builder
	parent   string // the call that started it, "" for the agent itself
	main     bool
	last     *reply
	messages map[string]*reply // of this turn, the newest of each id
}

// reply is one message of the model.
type reply struct {
	n        int
	streamed bool
	whole    bool // the model said why it stopped
	pieces   []*piece
	byIndex  map[int]*piece
	retries  *reply // the message that broke off and is said anew in this one
	spending
}

// piece is a block of a reply.
type piece struct {
	index     int    // in the stream
	typ       string // text, thinking, tool, or something that is not streamed
	nth       int    // among the pieces of its type
	key       string
	tool      trace.ToolCall
	input     strings.Builder
	signature string
	snapped   bool // its snapshot has come
}

// speaker returns the sub-agent that a call has started, or the agent itself.
func (d *Decoder) speaker(c *turn, parent string) *speaker {
	s, ok := c.speakers[parent]
	if !ok {
		d.retell(c, parent)
		if parent != "" && !c.calls[parent] { // its beginning is not in the recording
			c.calls[parent] = true
			c.b.ToolCall(trace.ToolCall{ToolCallID: parent, RawName: "Task", ToolKind: d.tools.Kind("Task")})
		}
		s = &speaker{b: c.b.Under(parent), parent: parent, main: parent == "", messages: map[string]*reply{}}
		c.speakers[parent] = s
	}
	return s
}

// begin opens a message of the model, and with it a step.
func (d *Decoder) begin(c *turn, s *speaker, msg message, streamed bool) *reply {
	d.release(c, s)
	c.messages++
	m := &reply{n: c.messages, streamed: streamed, whole: !streamed, byIndex: map[int]*piece{}, spending: d.spendingOf(s, msg)}
	if s.last != nil && !s.last.whole {
		m.retries = s.last
	}
	s.last = m
	s.messages[msg.ID] = m
	if s.main {
		c.began = true
		s.b.StepStart(trace.Step{})
	}
	return m
}

// open adds a piece to a message.
func (s *speaker) open(m *reply, typ string) *piece {
	p := &piece{typ: typ, key: fmt.Sprintf("%d.%d", m.n, len(m.pieces))}
	for _, q := range m.pieces {
		if q.typ == typ {
			p.nth++
		}
	}
	m.pieces = append(m.pieces, p)
	if old := m.retries.find(typ, p.nth); old != nil && (typ == "text" || typ == "thinking") {
		agentkit.VoiceOf(s.b, typ == "thinking").Repeats(p.key, old.key)
	}
	return p
}

// find returns the piece that a retry repeats.
func (m *reply) find(typ string, nth int) *piece {
	for ; m != nil; m = m.retries {
		for _, p := range m.pieces {
			if p.typ == typ && p.nth == nth {
				return p
			}
		}
	}
	return nil
}

// stream takes an event of the model's stream.
func (d *Decoder) stream(l line, t agent.Turns) {
	e := l.Event
	switch e.Type {
	case "message_start", "content_block_start", "content_block_delta":
		if c := d.need(t); c != nil {
			if l.Parent == "" {
				d.spoke(e.Message.Model, t)
			}
			d.grow(c, d.speaker(c, l.Parent), e)
		}
	case "content_block_stop", "message_delta", "message_stop":
		if c := d.current(t); c != nil {
			d.shut(c, d.speaker(c, l.Parent), l)
		}
	case "error":
		if c := d.current(t); c != nil {
			c.b.Emit(trace.Error{Message: cmp.Or(e.Error.Message, "The model's stream reported an error."), Code: cmp.Or(e.Error.Type, "stream_error")})
		}
	default:
		agentkit.Touch(t)
	}
}

// grow takes what adds to a message.
func (d *Decoder) grow(c *turn, s *speaker, e event) {
	if e.Type == "message_start" {
		d.begin(c, s, e.Message, true)
		return
	}
	m := s.last
	if m == nil {
		m = d.begin(c, s, message{}, true) // the beginning of the stream is missing
	}
	if e.Type == "content_block_start" {
		p := d.openBlock(c, s, m, e.Block)
		p.index = e.Index
		m.byIndex[e.Index] = p
		return
	}
	p := m.byIndex[e.Index]
	if p == nil {
		p = s.open(m, pieceType(e.Delta.Type))
		m.byIndex[e.Index] = p
	}
	d.delta(c, s, p, e.Delta)
}

func (d *Decoder) openBlock(c *turn, s *speaker, m *reply, b block) *piece {
	p := s.open(m, pieceType(b.Type))
	switch p.typ {
	case "text":
		c.text(s, p, b.Text)
	case "thinking":
		s.thought(p, b.Thinking)
		p.signature = b.Signature
	case "tool":
		p.tool = d.startCall(p, b)
		s.b.ToolCallStart(trace.ToolCallStart{ToolCallID: p.tool.ToolCallID, RawName: p.tool.RawName, Name: p.tool.Name, ToolKind: p.tool.ToolKind})
		if input := string(b.Input); input != "{}" && input != "null" {
			s.input(p, input)
		}
	default:
		if len(b.Content) > 0 || b.Source != nil {
			d.other(c, s, b)
			p.snapped = true
		}
	}
	return p
}

func (d *Decoder) delta(c *turn, s *speaker, p *piece, e eventDelta) {
	switch e.Type {
	case "text_delta":
		c.text(s, p, e.Text)
	case "thinking_delta":
		s.thought(p, e.Thinking)
	case "signature_delta":
		p.signature += e.Signature
	case "input_json_delta":
		s.input(p, string(e.PartialJSON))
	case "citations_delta":
		c.cite(s.b, e.Citation)
	default:
		s.b.Touch()
	}
}

func (c *turn) text(s *speaker, p *piece, more trace.JSONText) {
	if more != "" {
		c.shown = c.shown || s.main
		s.b.MessageDelta(p.key, string(more))
	}
}

func (s *speaker) thought(p *piece, more trace.JSONText) {
	if more != "" {
		s.b.ThoughtDelta(p.key, string(more))
	}
}

func (s *speaker) input(p *piece, more string) {
	if p.tool.ToolCallID != "" && more != "" {
		p.input.WriteString(more)
		s.b.ToolCallDelta(p.tool.ToolCallID, more)
	}
}

// shut takes what ends a block or a message.
func (d *Decoder) shut(c *turn, s *speaker, l line) {
	m, e := s.last, l.Event
	if m == nil || !m.streamed {
		return
	}
	switch e.Type {
	case "content_block_stop":
		if p := m.byIndex[e.Index]; p != nil {
			d.endPiece(c, s, p)
		}
	case "message_delta":
		m.whole = m.whole || e.Delta.StopReason != ""
		if e.Usage != nil {
			d.used(c, m, *e.Usage, e.Delta.StopReason)
		}
		s.b.StepFinish(e.Delta.StopReason)
	case "message_stop":
		if l.Abandoned != nil && !m.whole {
			d.abandon(s, m, l.Abandoned.FromBlock)
		}
	}
}

// endPiece ends a block whose snapshot has not come.
func (d *Decoder) endPiece(c *turn, s *speaker, p *piece) {
	if p.snapped {
		return
	}
	switch p.typ {
	case "text", "thinking":
		agentkit.VoiceOf(s.b, p.typ == "thinking").End(p.key, p.signature)
	case "tool":
		if input := p.input.String(); input == "" || json.Valid([]byte(input)) {
			d.wholeCall(c, s, p.tool, raw(cmp.Or(input, "{}")))
		}
	}
}

// abandon gives the calls of a message that broke off their end: they never ran.
func (d *Decoder) abandon(s *speaker, m *reply, from int) {
	for _, p := range m.pieces {
		if p.index < from || p.typ != "tool" || p.snapped {
			continue
		}
		delete(d.calls, p.tool.ToolCallID)
		s.b.ToolResult(trace.ToolResult{
			ToolCallID: p.tool.ToolCallID, Status: trace.ToolCanceled,
			Error: "Not run: the model's answer broke off before the call was complete.",
		})
	}
}

// pieceType is the type of piece that a block or a delta belongs to.
func pieceType(name string) string {
	switch name {
	case "text", "text_delta":
		return "text"
	case "thinking", "thinking_delta", "signature_delta":
		return "thinking"
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return "tool"
	default:
		return "other"
	}
}
