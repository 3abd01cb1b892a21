package codex

import (
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// step begins a step with the first item of a model call. A text after the answers of
// all tools comes of another model call, also if Codex counts no tokens between them.
func (c *turn) step(b *trace.Builder, text bool) {
	if b == c.b && (c.call || text && c.answered && len(c.running) == 0) {
		c.call, c.answered = false, false
		b.StepStart(trace.Step{})
	}
}

// item takes an item that begins or ends. A tool call appears whole when it begins.
func (d *Decoder) item(c *turn, b *trace.Builder, p params, done bool) error {
	it := p.Item
	switch it.Type {
	case "userMessage", "hookPrompt", "functionCallOutput", "sleep", "enteredReviewMode":
		return nil // what Codex tells its model, and waits
	case "contextCompaction":
		if done {
			b.Emit(trace.Notice("compacted", "Codex has compacted the conversation to make room."))
		}
		return nil
	case "subAgentActivity":
		d.subagent(c, it)
		return nil
	}
	c.step(b, it.Type == "agentMessage" || it.Type == "reasoning")
	switch it.Type {
	case "agentMessage", "plan":
		earlier, instead := c.part(p, done), it.Moderation.instead()
		switch {
		case done && instead != "":
			b.MessageReplace(it.ID, instead)
		case earlier != "":
			b.MessageRepeats(it.ID, earlier)
		case done && it.Text == "":
			b.MessageEnd(it.ID)
		case done:
			b.Message(it.ID, it.Text)
		}
	case "reasoning":
		if earlier := c.part(p, done); earlier != "" {
			b.ThoughtRepeats(thoughtKey(it.ID, "summary", 0), thoughtKey(earlier, "summary", 0))
		}
		if done {
			it.thoughts(b)
		}
	case "exitedReviewMode":
		if done {
			b.Message(it.ID, it.Review)
		}
	case "imageGeneration":
		var image string
		if done && json.Unmarshal(it.Result, &image) == nil && image != "" {
			b.Emit(trace.File{URL: "data:image/png;base64," + image, MediaType: "image/png"})
		}
	case "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageView":
		d.tool(c, b, it, done)
	default:
		return fmt.Errorf("an item of the type %s: %w", it.Type, agent.ErrUnknownEvent)
	}
	return nil
}

// subagent takes news of a sub-agent that no call started.
func (d *Decoder) subagent(c *turn, it item) {
	if d.agents.Get(it.AgentThreadID) != "" {
		return
	}
	c.b.Sub(it.AgentThreadID, it.AgentPath)
	switch it.Kind {
	case "completed":
		c.b.SubEnd(it.AgentThreadID, trace.SubagentCompleted)
	case "interrupted":
		c.b.SubEnd(it.AgentThreadID, trace.SubagentCanceled)
	}
}

// part notes that a part of the text begins or ends. It returns the id of an earlier
// part that this one repeats, because Codex has sent its request again.
func (c *turn) part(p params, done bool) (earlier string) {
	key := p.ThreadID + p.Item.Type
	if done {
		delete(c.open, key)
		return ""
	}
	c.open[key] = p.Item.ID
	earlier = c.again[key]
	delete(c.again, key)
	return earlier
}

// thoughts writes reasoning: its summaries, and the reasoning itself where a model gives it.
func (it item) thoughts(b *trace.Builder) {
	var content []string
	_ = json.Unmarshal(it.Content, &content) // other content is no text
	for list, texts := range [][]string{it.Summary, content} {
		for i, text := range texts {
			if text != "" {
				b.Thought(thoughtKey(it.ID, []string{"summary", "content"}[list], i), text, "")
			}
		}
	}
}

func plan(steps []planStep) trace.Plan {
	p := trace.Plan{Entries: []trace.PlanEntry{}}
	for _, s := range steps {
		entry := trace.PlanEntry{Content: s.Step, Status: trace.PlanPending}
		switch s.Status {
		case "inProgress":
			entry.Status = trace.PlanInProgress
		case "completed":
			entry.Status = trace.PlanCompleted
		}
		p.Entries = append(p.Entries, entry)
	}
	return p
}
