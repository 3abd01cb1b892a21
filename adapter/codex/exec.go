package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// exec takes a line of `codex exec --json`: the same turns and items with other names,
// and without deltas and approvals. The prompt is an argument of the command and not in
// the output.
func (d *Decoder) exec(kind string, data raw, t agent.Turns) error {
	var l struct {
		Thread  string `json:"thread_id"`
		Item    execItem
		Message string
		Error   turnError
		Usage   *struct {
			Input      int64 `json:"input_tokens"`
			Cached     int64 `json:"cached_input_tokens"`
			CacheWrite int64 `json:"cache_write_input_tokens"`
			Output     int64 `json:"output_tokens"`
			Reasoning  int64 `json:"reasoning_output_tokens"`
		}
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	c := d.current()
	switch {
	case kind == "thread.started":
		d.thread = l.Thread
		t.Note(trace.AgentInfo{Product: product}.Payload()) // it tells no more of itself
		return nil
	case kind == "turn.started":
		d.begin(t.Begin(agent.TurnInfo{Reason: "exec"}), d.thread)
		return nil
	case c == nil:
		return nil
	case c.fault.Message != "" && kind != "turn.failed": // the last error comes again with turn.failed
		c.b.Emit(trace.Notice("retry", c.fault.sentence()))
		c.fault = turnError{}
	}
	switch kind {
	case "error":
		c.fault = turnError{Message: l.Message}
	case "turn.completed", "turn.failed":
		if u := l.Usage; u != nil {
			c.spent = tokens{InputTokens: u.Input, CachedInputTokens: u.Cached, CacheWriteInputTokens: u.CacheWrite, OutputTokens: u.Output, ReasoningOutputTokens: u.Reasoning}.usage(trace.UsageTurn)
		}
		d.end(c, turnWire{Status: strings.TrimPrefix(kind, "turn."), Error: &l.Error})
	case "item.started", "item.updated", "item.completed":
		return d.execItem(c, l.Item, kind == "item.completed")
	default:
		return fmt.Errorf("%s: %w", kind, agent.ErrUnknownEvent)
	}
	return nil
}

// execItem is an item, with the fields that have other names or are only here.
type execItem struct {
	item
	Output   string `json:"aggregated_output"`
	ExitCode *int   `json:"exit_code"`
	Message  string
	Items    []struct { // of a list of what is to do
		Text      string
		Completed bool
	}
}

func (d *Decoder) execItem(c *turn, e execItem, done bool) error {
	it := e.item
	it.AggregatedOutput, it.ExitCode = e.Output, e.ExitCode
	switch e.Type {
	case "error":
		c.b.Emit(trace.Notice("warning", e.Message))
		return nil
	case "todo_list":
		var steps []planStep
		for _, todo := range e.Items {
			steps = append(steps, planStep{Step: todo.Text, Status: map[bool]string{true: "completed"}[todo.Completed]})
		}
		c.b.Emit(plan(steps))
		return nil
	case "reasoning":
		it.Summary = []string{e.Text}
	}
	names := map[string]string{
		"agent_message": "agentMessage", "command_execution": "commandExecution", "file_change": "fileChange",
		"mcp_tool_call": "mcpToolCall", "web_search": "webSearch", "collab_tool_call": "collabAgentToolCall",
	}
	it.Type = cmp.Or(names[e.Type], e.Type)
	return d.item(c, c.b, params{Item: it}, done)
}
