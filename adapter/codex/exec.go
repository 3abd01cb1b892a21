package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// exec takes a line of `codex exec --json`: the same turns and items in snake case, and
// without deltas and approvals. The prompt is an argument of the command and not in the
// output.
func (d *Decoder) exec(kind string, data raw, t agent.Turns) error {
	var l struct {
		Thread  string    `json:"thread_id"`
		Item    raw       `json:"item"`
		Message string    `json:"message"`
		Error   turnError `json:"error"`
		Usage   raw       `json:"usage"`
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	switch kind {
	case "thread.started":
		d.thread = l.Thread
		return nil
	case "turn.started":
		d.begin(t.Begin(agent.TurnInfo{Reason: "exec"}), d.thread)
		return nil
	case "item.started", "item.updated", "item.completed", "turn.completed", "turn.failed", "error":
	default:
		return fmt.Errorf("%s: %w", kind, agent.ErrUnknownEvent)
	}
	c := d.current()
	if c == nil {
		return nil
	}
	if c.fault != "" && kind != "turn.failed" { // the last error comes again with turn.failed
		c.b.Emit(trace.Error{Code: "retry", Message: c.fault})
		c.fault = ""
	}
	switch kind {
	case "error":
		c.fault = turnError{Message: l.Message}.sentence()
	case "turn.completed", "turn.failed":
		var used tokens
		if parse(camelKeys(l.Usage), &used) == nil && used != (tokens{}) {
			c.spent = used.usage(trace.UsageTurn)
		}
		d.end(c, turnWire{Status: strings.TrimPrefix(kind, "turn."), Error: &l.Error})
	default:
		return d.execItem(c, l.Item, kind == "item.completed")
	}
	return nil
}

func (d *Decoder) execItem(c *turn, data raw, done bool) error {
	var it struct {
		item
		Message string `json:"message"`
		Todos   []struct {
			Text string `json:"text"`
			Done bool   `json:"completed"`
		} `json:"items"`
	}
	if err := parse(camelKeys(data), &it); err != nil {
		return err
	}
	switch it.Type = camel(it.Type); it.Type {
	case "error":
		c.b.Emit(trace.Error{Code: "warning", Message: it.Message})
		return nil
	case "todoList":
		var steps []planStep
		for _, todo := range it.Todos {
			steps = append(steps, planStep{Step: todo.Text, Status: map[bool]string{true: "completed"}[todo.Done]})
		}
		c.b.Emit(plan(steps))
		return nil
	case "reasoning":
		it.Summary = []string{it.Text}
	case "collabToolCall":
		it.Type = "collabAgentToolCall"
	}
	return d.item(c, c.b, params{Item: it.item}, done)
}

// camelKeys renames the keys of an object as the app-server has them.
func camelKeys(data raw) raw {
	var fields map[string]raw
	_ = json.Unmarshal(data, &fields) // what is no object has no keys
	renamed := map[string]raw{}
	for key, value := range fields {
		renamed[camel(key)] = value
	}
	return agentkit.Encode(renamed)
}

// camel turns agent_message into agentMessage.
func camel(word string) string {
	parts := strings.Split(word, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}
