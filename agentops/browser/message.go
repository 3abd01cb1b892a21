package browser

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// message is an assistant's message as it grows.
type message struct {
	id      string
	created agentops.Stamp
	parts   []agentops.Part
	calls   map[string]int // where a call stands among the parts
	told    map[string]int // how much of a part of ours was told
	text    strings.Builder
	growing bool   // the last part is text, and what is told goes on with it
	last    string // the text that stands last, once it does not grow any more
	size    int
	most    int
}

func newMessage(id string, created agentops.Stamp, most int) *message {
	return &message{id: id, created: created, calls: map[string]int{}, told: map[string]int{}, most: most}
}

// delta adds to a part and returns what is to be told.
func (m *message) delta(part, text string) string {
	return m.grow(part, text, m.told[part]+len(text))
}

// whole returns what the deltas of a part lacked: the log lets go of deltas that
// are old.
func (m *message) whole(part, text string) string {
	told := m.told[part]
	if told >= len(text) {
		return ""
	}
	return m.grow(part, text[told:], len(text))
}

// grow adds text. Parts that follow each other are told apart by an empty line.
func (m *message) grow(part, text string, told int) string {
	if text == "" {
		return ""
	}
	if _, begun := m.told[part]; !begun && m.growing && m.text.Len() > 0 {
		text = "\n\n" + text
	}
	m.told[part] = told
	if !m.growing {
		m.growing = true
		m.text.Reset()
		m.parts = append(m.parts, agentops.Part{Type: agentops.PartText})
	}
	m.text.WriteString(m.fitting(text))
	return text
}

// fitting is what the message has room for of a text.
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

// settle ends the text that grows.
func (m *message) settle() {
	if m.growing {
		m.last = m.text.String()
		m.parts[len(m.parts)-1].Text = trace.JSONText(m.last)
		m.growing = false
		m.text = strings.Builder{}
	}
}

// call shows a tool call, or what is new of it.
func (m *message) call(id, name, status string, args json.RawMessage) {
	i, known := m.calls[id]
	if !known {
		m.settle()
		i = len(m.parts)
		m.calls[id] = i
		m.parts = append(m.parts, agentops.Part{Type: agentops.PartToolCall, CallID: id})
	}
	p := &m.parts[i]
	p.ToolName, p.Status = name, status
	m.size -= len(p.Args)
	p.Args = m.room(args)
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
		p.Status, p.Result = agentops.ToolCompleted, m.room(output)
		return
	}
	p.Status, p.Error = agentops.ToolError, m.fitting(r.Error)
	if p.Error == "" {
		p.Error = "Tool execution failed"
	}
}

// leftOut stands for what is too large.
const leftOut = `"… (left out: the message is too large to be sent again and again)"`

// room returns what is kept of a value.
func (m *message) room(value json.RawMessage) json.RawMessage {
	if m.size+len(value) > m.most {
		value = json.RawMessage(leftOut)
	}
	m.size += len(value)
	return value
}

// finish ends the message. The last part but one of a failure says why.
func (m *message) finish(reason, fault string) {
	m.settle()
	if fault != "" {
		m.parts = append(m.parts, agentops.Part{Type: agentops.PartError, Message: fault})
	}
	m.parts = append(m.parts, agentops.Part{Type: agentops.PartFinish, Reason: reason})
}

// frame is the message as it now is, for a frame that is kept.
func (m *message) frame(u *turn) agentops.Message {
	parts := append(agentops.Parts{}, m.parts...)
	last := m.last
	if m.growing {
		last = m.text.String()
		parts[len(parts)-1].Text = trace.JSONText(last)
		parts[len(parts)-1].Streaming = true
	}
	return agentops.Message{
		ID: m.id, Role: agentops.RoleAssistant, Content: trace.JSONText(last), Parts: parts, Channel: u.channel, ThreadID: u.thread,
	}
}
