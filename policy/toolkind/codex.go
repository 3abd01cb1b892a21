package toolkind

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// Codex is the table of Codex. The items of its protocol name what they do, not a
// tool; the names of the tools that its model calls follow.
func Codex() Table {
	changes := rule{kind: trace.ToolEdit, patch: true, verb: "Edit", about: pathKeys(), form: file, texts: append(contentKeys(), "unified_diff")}
	command := run()
	command.common = ""
	mcp := other("Call", "tool", "server")
	return Table{rules: map[string]rule{
		"commandExecution":    run(),
		"command_execution":   run(),
		"fileChange":          changes,
		"file_change":         changes,
		"webSearch":           webSearch(),
		"web_search":          webSearch(),
		"imageView":           read().of(trace.ToolRead, "Look at"),
		"plan":                think("Update the plan"),
		"todo_list":           think("Update the plan"),
		"collabToolCall":      delegate(),
		"collabAgentToolCall": delegate(),
		"subAgentActivity":    delegate(),
		"mcpToolCall":         mcp,
		"mcp_tool_call":       mcp,
		"dynamicToolCall":     mcp,
		"functionCallOutput":  other("Call", "name"),
		"imageGeneration":     other("Draw", "revisedPrompt"),
		"sleep":               other("Wait"),
		"enteredReviewMode":   mode("Start the review", "review"),
		"exitedReviewMode":    mode("End the review"),
		"contextCompaction":   think("Compact the conversation"),

		"shell":              command,
		"local_shell":        command,
		"shell_command":      command,
		"exec_command":       command,
		"write_stdin":        shell("Write to", "session_id"),
		"apply_patch":        patch(),
		"update_plan":        think("Update the plan", "explanation"),
		"view_image":         read().of(trace.ToolRead, "Look at"),
		"request_user_input": ask(),
		"spawn_agent":        delegate(),
	}}
}

// patchKind is that of the gravest change of a patch, which may also delete and move files.
func patchKind(input map[string]json.RawMessage) trace.ToolKind {
	var changes []struct {
		Kind struct {
			Type string
			Move string `json:"move_path"`
		}
	}
	_ = json.Unmarshal(input["changes"], &changes) // changes of another form are edits
	kind := trace.ToolEdit
	for _, c := range changes {
		switch {
		case c.Kind.Type == "delete":
			return trace.ToolDelete
		case c.Kind.Move != "":
			kind = trace.ToolMove
		}
	}
	return kind
}
