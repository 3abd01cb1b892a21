package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// tool takes an item that is a call of a tool.
func (d *Decoder) tool(c *turn, b *trace.Builder, it item, done bool) {
	switch it.Type {
	case "fileChange":
		c.patches[it.ID] = it.Changes
	case "collabAgentToolCall":
		for _, thread := range it.Receivers {
			if it.Tool == "spawnAgent" {
				d.agents[thread] = it.ID
			}
		}
	}
	call := d.call(it)
	b.ToolCall(call)
	if !done {
		c.running[it.ID] = call
		return
	}
	delete(c.running, it.ID)
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
	switch {
	case it.Type == "fileChange" && r.Status == trace.ToolCompleted:
		for _, ch := range it.Changes {
			b.Emit(ch.record(it.ID))
		}
	case it.Type == "webSearch":
		for _, s := range it.sources() {
			b.Emit(s)
		}
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
		name, input = "mcp__"+it.Server+"__"+it.Tool, orNull(it.Arguments)
	case "dynamicToolCall":
		name, input = strings.TrimPrefix(it.Namespace+"."+it.Tool, "."), orNull(it.Arguments)
	case "collabAgentToolCall":
		input = object{"tool": it.Tool, "prompt": it.Prompt, "threads": it.Receivers}
	case "webSearch":
		input = object{"query": it.Query, "action": orNull(it.Action)}
	case "imageView":
		input = object{"path": it.Path}
	}
	return d.classify(it.ID, name, encode(input))
}

// command is the input of a command.
func command(line, cwd string) object {
	input := object{"command": script(line)}
	if cwd != "" {
		input["cwd"] = cwd
	}
	return input
}

func (d *Decoder) classify(id, name string, input raw) trace.ToolCall {
	tool := d.tools.Classify(name, input)
	return trace.ToolCall{ToolCallID: id, RawName: name, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations}
}

// output is the result of a call: text as a string, else JSON.
func (it item) output() raw {
	switch it.Type {
	case "mcpToolCall":
		var r struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Structured raw `json:"structuredContent"`
		}
		if json.Unmarshal(orNull(it.Result), &r) != nil {
			return orNull(it.Result)
		}
		var texts []string
		for _, part := range r.Content {
			if part.Type != "text" {
				return it.Result
			}
			texts = append(texts, part.Text)
		}
		if len(texts) == 0 && len(r.Structured) > 0 {
			return r.Structured
		}
		return encode(strings.Join(texts, "\n"))
	case "dynamicToolCall":
		return orNull(it.ContentItems)
	case "collabAgentToolCall":
		return orNull(it.States)
	case "webSearch":
		return orNull(it.Results)
	default:
		return encode(it.Output)
	}
}

// failure says why a call has failed.
func (it item) failure() string {
	switch {
	case it.Error != nil && it.Error.Message != "":
		return it.Error.Message
	case it.ExitCode != nil:
		return fmt.Sprintf("It ended with the exit code %d.", *it.ExitCode)
	case it.Type == "fileChange":
		return "The patch could not be applied."
	}
	return "It failed."
}

// sources are the pages that a search has found.
func (it item) sources() []trace.Source {
	var found []struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	if json.Unmarshal(orNull(it.Results), &found) != nil {
		return nil
	}
	var all []trace.Source
	for i, f := range found {
		if f.URL != "" {
			all = append(all, trace.Source{SourceID: fmt.Sprintf("%s-%d", it.ID, i+1), URL: f.URL, Title: f.Title})
		}
	}
	return all
}

// stdin takes what was typed into a command that runs: a shell may run it.
func (d *Decoder) stdin(c *turn, b *trace.Builder, p params) {
	if p.Stdin == "" {
		return // only asked for more output
	}
	c.inputs++
	id := fmt.Sprintf("%s/stdin-%d", p.ItemID, c.inputs)
	b.ToolCall(d.classify(id, "write_stdin", encode(object{"chars": p.Stdin, "session_id": p.ItemID})))
	b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: raw(`""`)})
}
