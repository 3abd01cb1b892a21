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
func (d *Decoder) item(c *turn, b *trace.Builder, it item, done bool) error {
	switch it.Type {
	case "userMessage", "hookPrompt", "functionCallOutput", "sleep", "enteredReviewMode":
		return nil // what Codex tells its model, and waits
	case "contextCompaction":
		if done {
			b.Emit(trace.Notice("compacted", "Codex has compacted the conversation to make room."))
		}
		return nil
	case "subAgentActivity":
		if d.agents[it.Agent] == "" {
			c.b.Sub(it.Agent, it.AgentPath)
		}
		if ends := map[string]trace.SubagentStatus{"completed": trace.SubagentCompleted, "interrupted": trace.SubagentCanceled}; ends[it.Kind] != "" && d.agents[it.Agent] == "" {
			c.b.SubEnd(it.Agent, ends[it.Kind])
		}
		return nil
	}
	c.step(b, it.Type == "agentMessage" || it.Type == "reasoning")
	switch it.Type {
	case "agentMessage", "plan":
		c.text(b, it, done)
	case "reasoning":
		c.thought(b, it, done)
	case "exitedReviewMode":
		if done {
			b.Message(it.ID, it.Review)
		}
	case "imageGeneration":
		var image string
		if done && json.Unmarshal(orNull(it.Result), &image) == nil && image != "" {
			b.Emit(trace.File{URL: "data:image/png;base64," + image, MediaType: "image/png"})
		}
	case "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageView":
		d.tool(c, b, it, done)
	default:
		return fmt.Errorf("an item of the type %s: %w", it.Type, agent.ErrUnknownEvent)
	}
	return nil
}

// text takes a message of the agent.
func (c *turn) text(b *trace.Builder, it item, done bool) {
	switch {
	case !done:
		c.open[it.Type] = it.ID
		if earlier := c.again[it.Type]; earlier != "" {
			delete(c.again, it.Type)
			b.MessageRepeats(it.ID, earlier)
		}
	case it.Text == "":
		b.MessageEnd(it.ID)
	default:
		b.Message(it.ID, it.Text)
	}
	if done {
		delete(c.open, it.Type)
	}
}

// thought takes reasoning: its summaries, and the reasoning itself where a model gives it.
func (c *turn) thought(b *trace.Builder, it item, done bool) {
	if !done {
		c.open[it.Type] = it.ID
		if earlier := c.again[it.Type]; earlier != "" {
			delete(c.again, it.Type)
			b.ThoughtRepeats(thoughtKey(it.ID, "summary", 0), thoughtKey(earlier, "summary", 0))
		}
		return
	}
	delete(c.open, it.Type)
	var content []string
	_ = json.Unmarshal(orNull(it.Content), &content) // other content is no text
	for _, list := range []struct {
		name  string
		texts []string
	}{{"summary", it.Summary}, {"content", content}} {
		for i, text := range list.texts {
			if text != "" {
				b.Thought(thoughtKey(it.ID, list.name, i), text, "")
			}
		}
	}
}
