package claude

import (
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// errorBytes bounds what a result's error repeats of its output.
const errorBytes = 2000

// interruptedText begins the agent's own text when a person has stopped it.
const interruptedText = "[Request interrupted"

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
	if strings.HasPrefix(l.Message.Content.text(), interruptedText) {
		c.interrupted = true
	}
	c.b.Touch()
}

// toolResult takes a result. The other fields of the line belong to the first result.
func (d *Decoder) toolResult(c *turn, l line, b block, first bool) {
	s := d.speaker(c, l.Parent)
	d.retell(c, b.ToolUseID)
	delete(d.calls, b.ToolUseID)
	delete(d.counted.newest, b.ToolUseID)
	r := trace.ToolResult{ToolCallID: b.ToolUseID, Status: trace.ToolCompleted, Output: output(b.Content)}
	text, why := "", l.meta(b.ToolUseID)
	if b.IsError || why.Decision.Decision == "reject" {
		text = plainText(b.Content)
	}
	switch {
	case why.Decision.Decision == "reject":
		r.Status, r.Error = trace.ToolDenied, brief(text)
	case !b.IsError:
	case why.NotRun == "user-rejected", strings.HasPrefix(text, interruptedText), strings.HasPrefix(text, "The user doesn't want to proceed with this tool use"):
		r.Status, r.Error = trace.ToolCanceled, "Stopped before it was finished."
	default:
		r.Status, r.Error = trace.ToolFailed, brief(text)
	}
	if first {
		d.lastOf(c, b.ToolUseID, l.ToolUseResult)
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
	if len(content) == 0 {
		return raw(`""`)
	}
	if content[0] == '"' { // a large text is not read once more
		return content
	}
	if text, plain := onlyText(content); plain {
		return agentkit.Encode(text)
	}
	return content
}

func (l line) meta(id string) resultMeta {
	for _, m := range l.ToolResultMeta {
		if m.ID == id {
			return m
		}
	}
	return resultMeta{}
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
	return strings.ToValidUTF8(text[:errorBytes], "") + "…"
}
