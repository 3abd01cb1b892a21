package claude

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// errorBytes bounds what a result's error repeats of its output.
const errorBytes = 2000

// user takes a user line of the agent's output. It carries results of calls;
// every other text in it is the agent's own, put into the user's mouth.
func (d *Decoder) user(l line, t agent.Turns) {
	found := false
	for _, b := range l.Message.Content {
		if b.Type != "tool_result" {
			continue
		}
		if c := d.need(t); c != nil {
			d.toolResult(c, l, b, !found)
		}
		found = true
	}
	if found {
		return
	}
	if l.Replay && l.Parent == "" {
		d.replayed(l, t)
		return
	}
	c := d.current(t)
	if c == nil {
		return
	}
	if strings.HasPrefix(l.Message.Content.text(), "[Request interrupted") {
		c.interrupted = true
	}
	c.b.Touch()
}

// toolResult takes a result. What the line says beside it belongs to the first.
func (d *Decoder) toolResult(c *turn, l line, b block, first bool) {
	s := d.speaker(c, l.Parent)
	d.retell(c, b.ToolUseID)
	tc, known := d.calls[b.ToolUseID]
	delete(d.calls, b.ToolUseID)
	r := trace.ToolResult{ToolCallID: b.ToolUseID, Status: trace.ToolCompleted, Output: output(b.Content)}
	if b.IsError || denied(l, b.ToolUseID) {
		text := plainText(b.Content)
		r.Status, r.Error = trace.ToolFailed, brief(text)
		switch {
		case denied(l, b.ToolUseID) || known && tc.denied:
			r.Status = trace.ToolDenied
			if known && tc.reason != "" {
				r.Error = tc.reason
			}
		case canceled(l, b.ToolUseID, text):
			r.Status, r.Error = trace.ToolCanceled, "Stopped before it was finished."
		}
	}
	s.b.ToolResult(r)
	if first && r.Status == trace.ToolCompleted && len(l.ToolUseResult) > 0 {
		if change, ok := fileChange(l.ToolUseResult); ok {
			change.ToolCallID = b.ToolUseID
			s.b.Emit(change)
		}
	}
}

// output is the text of a result as a string, else its JSON.
func output(content raw) raw {
	if text, plain := onlyText(content); plain {
		return agentkit.Encode(text)
	}
	if len(content) == 0 {
		return raw(`""`)
	}
	return content
}

func denied(l line, id string) bool {
	m, ok := l.meta(id)
	return ok && m.Decision.Decision == "reject"
}

func canceled(l line, id, text string) bool {
	if m, ok := l.meta(id); ok && m.NotRun == "user-rejected" {
		return true
	}
	return strings.HasPrefix(text, "[Request interrupted") || strings.HasPrefix(text, "The user doesn't want to proceed with this tool use")
}

func (l line) meta(id string) (resultMeta, bool) {
	for _, m := range l.ToolResultMeta {
		if m.ID == id {
			return m, true
		}
	}
	return resultMeta{}, false
}

// brief is a tool's own words about its failure, without the agent's tags.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		text = strings.TrimSuffix(inner, "</tool_use_error>")
	}
	if len(text) <= errorBytes {
		return text
	}
	cut := errorBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// todoPlan reads the plan that a TodoWrite call holds.
func todoPlan(input raw) (trace.Plan, bool) {
	var in struct {
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	if json.Unmarshal(input, &in) != nil || in.Todos == nil {
		return trace.Plan{}, false
	}
	plan := trace.Plan{Entries: []trace.PlanEntry{}}
	for _, todo := range in.Todos {
		status := trace.PlanStatus(todo.Status)
		if status != trace.PlanInProgress && status != trace.PlanCompleted {
			status = trace.PlanPending
		}
		plan.Entries = append(plan.Entries, trace.PlanEntry{Content: todo.Content, Status: status})
	}
	return plan, true
}
