package claude

import (
	"cmp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// A sub-agent may work in the background: its call returns at once, the turn
// ends, and what it does then comes in another turn. There the call is told
// again, so that the sub-agent has its call before it in every turn, and the
// task's report is the call's result.

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
	c.calls[id] = true // before its parent is looked at: nobody is his own parent
	s := d.speaker(c, tc.parent)
	tc.turn = c.b.Turn()
	s.b.ToolCall(tc.ToolCall)
}

// background follows the tasks that run in the background.
func (d *Decoder) background(s system, t agent.Turns) {
	switch s.Subtype {
	case "task_started":
		if tc, ok := d.calls[s.ToolUseID]; ok {
			started := *tc
			d.tasks[s.ToolUseID] = &started
		}
	case "task_notification":
		tc, ok := d.tasks[s.ToolUseID]
		delete(d.tasks, s.ToolUseID)
		c := d.current(t)
		if ok && c != nil && c.calls[s.ToolUseID] {
			d.speaker(c, tc.parent).b.ToolResult(s.report())
		}
		for id, of := range d.calls {
			if of.parent == s.ToolUseID {
				delete(d.calls, id)
			}
		}
	}
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
