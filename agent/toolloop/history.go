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
// result, and the user's and the assistant's messages follow the order of the turns.
func History(ctx context.Context, host agent.Host) (Past, error) {
	m := memory{calls: map[string]place{}, asked: map[string]string{}}
	for r, err := range host.History(ctx) {
		if err != nil {
			return Past{}, fmt.Errorf("read the conversation so far: %w", err)
		}
		m.take(r)
	}
	return Past{Messages: m.tidy(), Usage: m.usage}, nil
}

// place is where a call stands.
type place struct{ message, call int }

// memory folds records into messages.
type memory struct {
	messages []Message
	open     bool              // the last message is the assistant's and goes on
	calls    map[string]place  // by turn and id of the call
	asked    map[string]string // the key in calls, by the id of a permission request
	usage    trace.Usage
}

func (m *memory) take(r trace.Record) {
	own := r.Actor == trace.Agent
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are nothing that a model is told
	case trace.Prompt:
		m.messages, m.open = append(m.messages, Message{ID: p.Message.ID, Role: trace.RoleUser, Parts: p.Message.Parts}), false
	case trace.Reply:
		m.messages, m.open = append(m.messages, Message{ID: p.MessageID, Role: trace.RoleAssistant}), true
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
			m.call(r.Turn+" "+p.ToolCallID, Call{ID: p.ToolCallID, Name: p.RawName, Input: p.Input})
		}
	case trace.PermissionRequest:
		m.asked[p.RequestID] = r.Turn + " " + p.ToolCallID
	case trace.PermissionResponse:
		if c := m.find(m.asked[p.RequestID]); c != nil && len(p.UpdatedInput) > 0 {
			c.Input = p.UpdatedInput
		}
	case trace.ToolResult:
		if c := m.find(r.Turn + " " + p.ToolCallID); c != nil {
			c.Result = &p
		}
	case trace.Usage:
		if p.Scope == trace.UsageStep {
			m.usage = Sum(m.usage, p)
		}
	case trace.Rewind:
		m.rewind(p.To)
	}
}

// last is the assistant's message that goes on.
func (m *memory) last() *Message {
	if !m.open {
		m.messages, m.open = append(m.messages, Message{Role: trace.RoleAssistant}), true
	}
	return &m.messages[len(m.messages)-1]
}

// call notes a call. A call that is told again ran with the later input.
func (m *memory) call(key string, c Call) {
	if earlier := m.find(key); earlier != nil {
		earlier.Name, earlier.Input = c.Name, c.Input
		return
	}
	last := m.last()
	last.Calls = append(last.Calls, c)
	m.calls[key] = place{message: len(m.messages) - 1, call: len(last.Calls) - 1}
}

func (m *memory) find(key string) *Call {
	at, ok := m.calls[key]
	if !ok || at.message >= len(m.messages) || at.call >= len(m.messages[at.message].Calls) {
		return nil
	}
	return &m.messages[at.message].Calls[at.call]
}

// rewind takes back the named message and all that follow.
func (m *memory) rewind(to string) {
	i := slices.IndexFunc(m.messages, func(x Message) bool { return x.ID == to })
	if i < 0 {
		return
	}
	m.messages, m.open = m.messages[:i], false
	for key, at := range m.calls {
		if at.message >= i {
			delete(m.calls, key)
		}
	}
}

// tidy drops empty answers and joins prompts that had no answer, because some models
// take only conversations in which user and assistant take turns.
func (m *memory) tidy() []Message {
	var all []Message
	for _, x := range m.messages {
		if x.Role == trace.RoleAssistant && x.Text == "" && len(x.Calls) == 0 {
			continue
		}
		all = Append(all, x)
	}
	return all
}

// Append adds a message to a conversation. A user's message behind another one of a user
// becomes a part of that.
func Append(all []Message, x Message) []Message {
	if n := len(all); x.Role == trace.RoleUser && n > 0 && all[n-1].Role == trace.RoleUser {
		all[n-1].Parts = slices.Concat(all[n-1].Parts, x.Parts)
		return all
	}
	return append(all, x)
}

// Sum adds what was used. Costs add up only where they are known.
func Sum(a, b trace.Usage) trace.Usage {
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.CacheReadTokens += b.CacheReadTokens
	a.CacheWriteTokens += b.CacheWriteTokens
	a.ReasoningTokens += b.ReasoningTokens
	if b.CostUSD != nil {
		cost := *b.CostUSD
		if a.CostUSD != nil {
			cost += *a.CostUSD
		}
		a.CostUSD = &cost
	}
	return a
}
