package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// tool takes an item that is a call of a tool.
func (d *Decoder) tool(c *turn, b *trace.Builder, it item, done bool) {
	if it.Type == "collabAgentToolCall" && it.Tool == "spawnAgent" {
		for _, thread := range it.ReceiverThreadIDs {
			d.agents.Put(thread, it.ID)
		}
	}
	call := d.call(it)
	call.Continues = d.open[it.ID]
	b.ToolCall(call)
	if !done {
		c.running[it.ID] = it
		return
	}
	delete(c.running, it.ID)
	delete(d.open, it.ID)
	c.answered = true
	r := trace.ToolResult{ToolCallID: it.ID, Status: trace.ToolCompleted, Output: it.output()}
	switch {
	case it.Status == "declined":
		r.Status, r.Error = trace.ToolDenied, "It was not allowed."
	case it.Status == "interrupted":
		r.Status, r.Error = trace.ToolCanceled, "It was interrupted."
	case it.Status == "failed" || it.Success != nil && !*it.Success:
		r.Status, r.Error = trace.ToolFailed, it.failure()
	}
	b.ToolResult(r)
	if it.Type == "fileChange" && r.Status == trace.ToolCompleted {
		for _, ch := range it.Changes {
			b.Emit(ch.record(it.ID))
		}
	}
	if it.Type == "webSearch" {
		it.sources(b)
	}
}

// call is an item as a call.
func (d *Decoder) call(it item) trace.ToolCall {
	name, input := it.Type, any(object{})
	switch it.Type {
	case "commandExecution":
		input = command(it.Command, it.CWD)
	case "fileChange":
		return d.patchCall(it.ID, it.Changes, "")
	case "mcpToolCall":
		name, input = "mcp__"+it.Server+"__"+it.Tool, it.Arguments
	case "dynamicToolCall":
		name, input = strings.TrimPrefix(it.Namespace+"."+it.Tool, "."), it.Arguments
	case "collabAgentToolCall":
		input = object{"tool": it.Tool, "prompt": it.Prompt, "threads": it.ReceiverThreadIDs}
	case "webSearch":
		input = object{"query": it.Query, "action": it.Action}
	case "imageView":
		input = object{"path": it.Path}
	}
	return d.classify(it.ID, name, input)
}

// command is the input of a command.
func command(line, cwd string) object {
	input := object{"command": script(line)}
	if cwd != "" {
		input["cwd"] = cwd
	}
	return input
}

func (d *Decoder) classify(id, name string, input any) trace.ToolCall {
	return d.tools.Call(id, name, agentkit.Encode(input))
}

// output is the result of a call: text as a string, else JSON.
func (it item) output() raw {
	switch it.Type {
	case "mcpToolCall":
		return mcpOutput(it.Result)
	case "dynamicToolCall":
		return agentkit.Encode(it.ContentItems)
	case "collabAgentToolCall":
		return agentkit.Encode(it.AgentsStates)
	case "webSearch":
		return agentkit.Encode(it.Results)
	default:
		return agentkit.Encode(it.AggregatedOutput)
	}
}

// mcpOutput is the text of a result, or else its structured content, or else all of it.
func mcpOutput(result raw) raw {
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent raw
	}
	if json.Unmarshal(result, &r) != nil && len(result) > 0 {
		return result
	}
	var texts []string
	for _, part := range r.Content {
		if part.Type != "text" {
			return result
		}
		texts = append(texts, part.Text)
	}
	if len(texts) == 0 && len(r.StructuredContent) > 0 {
		return r.StructuredContent
	}
	return agentkit.Encode(strings.Join(texts, "\n"))
}

// failure says why a call has failed.
func (it item) failure() string {
	sentence := "It failed."
	if it.ExitCode != nil {
		sentence = fmt.Sprintf("It ended with the exit code %d.", *it.ExitCode)
	}
	if it.Type == "fileChange" {
		sentence = "The patch could not be applied."
	}
	return cmp.Or(it.Error.Message, sentence)
}

// sources writes the pages that a search has found.
func (it item) sources(b *trace.Builder) {
	var found []struct{ URL, Title string }
	_ = json.Unmarshal(it.Results, &found) // results of another form name no pages
	for i, f := range found {
		if f.URL != "" {
			b.Emit(trace.Source{SourceID: fmt.Sprintf("%s-%d", it.ID, i+1), URL: f.URL, Title: f.Title})
		}
	}
}

// stdin takes what was typed into a command that runs: a shell may run it. Nothing was
// typed where the model only asks for more output.
func (d *Decoder) stdin(c *turn, b *trace.Builder, p params) {
	if p.Stdin != "" {
		c.inputs++
		id := fmt.Sprintf("%s/stdin-%d", p.ItemID, c.inputs)
		b.ToolCall(d.classify(id, "write_stdin", object{"chars": p.Stdin, "session_id": p.ItemID}))
		b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: raw(`""`)})
	}
}
