package toolloop

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Past is what the gateway's records say of a session's earlier turns.
type Past struct {
	Messages []Message
	// Usage is the sum over all model calls.
	Usage trace.Usage
}

// History rebuilds the conversation from the records of the gateway. Every call has a
// result, and the user's and the assistant's messages follow the order of the turns. Some turns left
// what no model takes: History repairs that, as file repair.go says.
func History(ctx context.Context, host agent.Host) (Past, error) {
	m := memory{asked: map[string]string{}}
	for r, err := range host.History(ctx) {
		if err != nil {
			return Past{}, fmt.Errorf("read the conversation so far: %w", err)
		}
		m.take(r)
	}
	m.closeTurn()
	past := Past{Usage: m.usage}
	for _, x := range m.messages {
		if !x.empty() {
			past.Messages = Append(past.Messages, x)
		}
	}
	return past, nil
}

// memory folds records into messages.
type memory struct {
	messages []Message
	open     bool              // the last message is the assistant's and goes on
	asked    map[string]string // the id of a call, by that of its permission request
	usage    trace.Usage
	outcome  trace.Outcome // of the newest turn
}

func (m *memory) take(r trace.Record) {
	own := r.Actor == trace.Agent
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are nothing that a model is told
	case trace.Prompt:
		m.closeTurn()
		m.messages, m.open = append(m.messages, Message{Role: trace.RoleUser, Parts: p.Message.Parts}), false
	case trace.Step:
		m.open = m.open && p.Phase != trace.PhaseStart
	case trace.Message:
		if own && !p.Superseded && p.Role == trace.RoleAssistant {
			m.last().Text += p.Text
		}
	case trace.Thought:
		if own && !p.Superseded {
			m.last().Thoughts = append(m.last().Thoughts, Thought{Text: p.Text, Signature: p.Signature})
		}
	case trace.ToolCall:
		if own {
			m.call(p)
		}
	case trace.PermissionRequest:
		m.asked[p.RequestID] = p.ToolCallID
	case trace.PermissionResponse:
		if c := m.find(m.asked[p.RequestID]); c != nil && len(p.UpdatedInput) > 0 {
			c.Input = p.UpdatedInput
		}
	case trace.ToolResult:
		if c := m.find(p.ToolCallID); c != nil {
			c.Result = &p
		}
	case trace.Error:
		if own {
			m.messages = repair(m.messages, p)
		}
	case trace.Stop:
		m.outcome = p.Outcome
	case trace.Usage:
		if p.Scope == trace.UsageStep {
			m.usage = m.usage.Plus(p)
		}
	}
}

// last is the assistant's message that goes on.
func (m *memory) last() *Message {
	if !m.open {
		m.messages, m.open = append(m.messages, Message{Role: trace.RoleAssistant}), true
	}
	return &m.messages[len(m.messages)-1]
}

// call notes a call. A call that is on record twice ran with the later input.
func (m *memory) call(p trace.ToolCall) {
	last, c := m.last(), Call{ID: p.ToolCallID, Name: p.RawName, Input: p.Input, State: p.ProviderState}
	if i := slices.IndexFunc(last.Calls, func(c Call) bool { return c.ID == p.ToolCallID }); i >= 0 {
		last.Calls[i] = c
		return
	}
	last.Calls = append(last.Calls, c)
}

// find returns the newest call of an id: ids are unique within a turn only.
func (m *memory) find(id string) *Call {
	for _, x := range slices.Backward(m.messages) {
		i := slices.IndexFunc(x.Calls, func(c Call) bool { return c.ID == id })
		if i >= 0 {
			return &x.Calls[i]
		}
	}
	return nil
}
