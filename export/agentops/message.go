package agentops

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// message is an assistant's message as it grows.
type message struct {
	id      string
	created wire.Stamp
	parts   []wire.Part
	calls   map[string]int // the index of a tool call in parts
	sent    map[string]int // the bytes of a part of the trace that were sent
	text    strings.Builder
	growing bool   // the last part is text that goes on
	last    string // the last text, once it no longer grows
	size    int
	most    int
}

func newMessage(id string, created wire.Stamp, most int) *message {
	return &message{id: id, created: created, calls: map[string]int{}, sent: map[string]int{}, most: most}
}

// delta adds to a part, and returns the text to send.
func (m *message) delta(part, text string) string {
	return m.grow(part, text, m.sent[part]+len(text))
}

// full returns the text of a part that its deltas lacked. The log drops old deltas.
func (m *message) full(part, text string) string {
	sent := m.sent[part]
	if sent >= len(text) {
		return ""
	}
	return m.grow(part, text[sent:], len(text))
}

// grow adds text. An empty line separates parts that follow each other.
func (m *message) grow(part, text string, sent int) string {
	if text == "" {
		return ""
	}
	if _, begun := m.sent[part]; !begun && m.growing && m.text.Len() > 0 {
		text = "\n\n" + text
	}
	m.sent[part] = sent
	if !m.growing {
		m.growing = true
		m.text.Reset()
		m.parts = append(m.parts, wire.Part{Type: wire.PartText})
	}
	m.text.WriteString(m.fitting(text))
	return text
}

// fitting cuts a text to the room that the message has left.
func (m *message) fitting(text string) string {
	left := m.most - m.size
	if len(text) > left {
		left = max(left, 0)
		for left > 0 && !utf8.RuneStart(text[left]) {
			left--
		}
		text, m.size = text[:left], m.most
	}
	m.size += len(text)
	return text
}

// settle ends the growing text.
func (m *message) settle() {
	if m.growing {
		m.last = m.text.String()
		m.parts[len(m.parts)-1].Text = trace.JSONText(m.last)
		m.growing = false
		m.text = strings.Builder{}
	}
}

// call adds a tool call, or updates it.
func (m *message) call(id, name, status string, args json.RawMessage) {
	i, known := m.calls[id]
	if !known {
		m.settle()
		i = len(m.parts)
		m.calls[id] = i
		m.parts = append(m.parts, wire.Part{Type: wire.PartToolCall, CallID: id})
	}
	p := &m.parts[i]
	p.ToolName, p.Status = name, status
	m.size -= len(p.Args)
	p.Args = m.fit(args)
}

// result ends a tool call.
func (m *message) result(r trace.ToolResult) {
	i, known := m.calls[r.ToolCallID]
	if !known {
		return
	}
	p := &m.parts[i]
	output := r.Output
	if string(output) == "null" {
		output = nil
	}
	if r.Status == trace.ToolCompleted {
		p.Status, p.Result = wire.ToolCompleted, m.fit(output)
		return
	}
	p.Status, p.Error = wire.ToolError, m.fitting(r.Error)
	if p.Error == "" {
		p.Error = "Tool execution failed"
	}
}

// leftOut stands for a value that is too large.
const leftOut = `"… (left out: the message is too large to be sent again and again)"`

// fit returns a value, or leftOut if the message has no room for the value.
func (m *message) fit(value json.RawMessage) json.RawMessage {
	if m.size+len(value) > m.most {
		value = json.RawMessage(leftOut)
	}
	m.size += len(value)
	return value
}

// finish ends the message. A failure has a part that says why, in front of the end.
func (m *message) finish(reason, fault string) {
	m.settle()
	if fault != "" {
		m.parts = append(m.parts, wire.Part{Type: wire.PartError, Message: fault})
	}
	m.parts = append(m.parts, wire.Part{Type: wire.PartFinish, Reason: reason})
}

// frame returns a copy of the message so far.
func (m *message) frame(u *turn) wire.Message {
	parts := append(wire.Parts{}, m.parts...)
	last := m.last
	if m.growing {
		last = m.text.String()
		parts[len(parts)-1].Text = trace.JSONText(last)
		parts[len(parts)-1].Streaming = true
	}
	return wire.Message{
		ID: m.id, Role: wire.RoleAssistant, Content: trace.JSONText(last), Parts: parts, Channel: u.channel, ThreadID: u.thread,
	}
}
