package claude

import (
	"cmp"
	"maps"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// A sub-agent may work in the background: its call returns at once, the turn
// ends, and its later work comes in another turn. The Decoder writes the call again
// there, so that each turn with a sub-agent has the sub-agent's call. The task's report is
// the call's result.

// retell writes a call into the turn if it was made in an earlier one.
func (d *Decoder) retell(c *turn, id string) {
	if id == "" || c.calls[id] {
		return
	}
	tc, ok := d.calls[id]
	if !ok {
		tc, ok = d.tasks[id]
	}
	if !ok || tc.turn == c.b.Turn() {
		return
	}
	c.calls[id] = true // before its parent is read: no call is its own parent
	s := d.speaker(c, tc.parent)
	tc.turn = c.b.Turn()
	again := tc.ToolCall
	again.Continues = tc.first
	s.b.ToolCall(again)
}

// task takes the news of a background task. Its beginning and its end are kept.
func (d *Decoder) task(s system, t agent.Turns) {
	c, value := d.current(t), map[string]string{"task_id": s.TaskID, "tool_call_id": s.ToolUseID}
	switch s.Subtype {
	case "task_started":
		value["status"], value["description"] = "running", s.Description
		if tc, ok := d.calls[s.ToolUseID]; ok {
			started := *tc
			d.tasks[s.ToolUseID] = &started
		}
	case "task_notification":
		value["status"], value["summary"] = s.Status, s.Summary
		if tc, ok := d.tasks[s.ToolUseID]; ok && c != nil && c.calls[s.ToolUseID] {
			d.speaker(c, tc.parent).b.ToolResult(s.report())
		}
		delete(d.tasks, s.ToolUseID)
		delete(d.counted.newest, s.ToolUseID)
		maps.DeleteFunc(d.calls, func(_ string, of *call) bool { return of.parent == s.ToolUseID })
	case "task_progress":
		if c != nil {
			d.about(c, s.ToolUseID).Emit(trace.Status{State: trace.StateToolCalling, Detail: s.Description})
		}
		return
	}
	p := trace.Data{Name: "task", ID: s.TaskID, Value: agentkit.Encode(value)}
	if c != nil {
		d.about(c, s.ToolUseID).Emit(p)
		return
	}
	t.Note(p)
}

// about is the view through which news of a call's sub-agent is written.
func (d *Decoder) about(c *turn, id string) *trace.Builder {
	if !c.calls[id] {
		return c.b
	}
	return d.speaker(c, id).b
}

// report is the result of the call that started a background task.
func (s system) report() trace.ToolResult {
	r := trace.ToolResult{ToolCallID: s.ToolUseID, Status: trace.ToolCompleted, Output: agentkit.Encode(s.Summary)}
	switch s.Status {
	case "completed", "":
	case "failed":
		r.Status, r.Error = trace.ToolFailed, cmp.Or(brief(s.Summary), "The background task failed.")
	default:
		r.Status, r.Error = trace.ToolCanceled, cmp.Or(brief(s.Summary), "The background task was stopped.")
	}
	return r
}
