package toolkind

import (
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// Claude is the table of Claude Code, and of agents that offer its tools.
func Claude() Table {
	return Table{rules: map[string]rule{
		"Read":                       read(),
		"NotebookRead":               read().of(trace.ToolRead, "Read"),
		"ListMcpResourcesTool":       resource("List resources of", "server"),
		"ReadMcpResourceTool":        resource("Read", "uri"),
		"Edit":                       edit(),
		"MultiEdit":                  edit().of(trace.ToolEdit, "Edit"),
		"NotebookEdit":               edit().of(trace.ToolEdit, "Edit"),
		"Write":                      write(),
		"Grep":                       grep(),
		"Glob":                       glob(),
		"LS":                         list(),
		"LSP":                        list().as("Ask the language server about"),
		"ToolSearch":                 lookup("Search for tools", "query"),
		"Bash":                       run(),
		"PowerShell":                 run(),
		"BashOutput":                 shell("Read the output of", "bash_id"),
		"TaskOutput":                 shell("Read the output of", "task_id"),
		"KillShell":                  shell("End", "shell_id"),
		"KillBash":                   shell("End", "shell_id"),
		"Monitor":                    {kind: trace.ToolExecute, verb: "Watch", about: []string{"command", "description"}, form: code},
		"code_execution":             run().of(trace.ToolExecute, "Run"),
		"bash_code_execution":        run().of(trace.ToolExecute, "Run"),
		"text_editor_code_execution": edit().of(trace.ToolEdit, "Edit"),
		"TodoWrite":                  think("Update the plan"),
		"Task":                       delegate(),
		"Agent":                      delegate(),
		"TaskCreate":                 think("Plan", "subject", "description"),
		"TaskUpdate":                 think("Update the plan"),
		"TaskGet":                    think("Read the plan"),
		"TaskList":                   think("Read the plan"),
		"ExitPlanMode":               think("Approve the plan", "plan"),
		"Skill":                      {kind: trace.ToolThink, verb: "Use the skill", about: []string{"skill", "command"}},
		"WebFetch":                   fetch(),
		"web_fetch":                  fetch(),
		"WebSearch":                  webSearch(),
		"web_search":                 webSearch(),
		"EnterPlanMode":              mode("Start planning"),
		"EnterWorktree":              mode("Enter the work tree", "name"),
		"ExitWorktree":               mode("Leave the work tree"),
		"AskUserQuestion":            ask(),
		"TaskStop":                   other("Stop the task", "task_id"),
		"SendMessage":                other("Send a message to", "to"),
		"SlashCommand":               other("Run the command", "command"),
		"CronCreate":                 other("Schedule", "prompt"),
		"CronDelete":                 other("Cancel the schedule", "id"),
		"CronList":                   other("List the schedules"),
	}}
}

// ClaudeOwns reports whether a tool works on nothing but Claude Code's own state. Such calls run
// unless the policy denies them, or a rule asks. The calls of a sub-agent are asked about one by one.
func ClaudeOwns(tool string) bool {
	return slices.Contains([]string{
		"TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "Agent", "Task", "TaskOutput", "TaskStop", "BashOutput", "KillShell", "KillBash",
		"SendMessage", "ToolSearch", "EnterPlanMode", "StructuredOutput",
	}, tool)
}

// OpenHarness is the table of harnesses that use Claude Code's names or those of
// OpenAI-compatible models.
func OpenHarness() Table { return merged(OpenAI(), Claude()) }

// Kimi is the table of Kimi's command line.
func Kimi() Table {
	return merged(Claude(), Table{rules: map[string]rule{
		"ReadFile":       read(),
		"ReadMediaFile":  read().of(trace.ToolRead, "Look at"),
		"WriteFile":      write(),
		"StrReplaceFile": edit(),
		"Shell":          run(),
		"SearchWeb":      webSearch(),
		"FetchURL":       fetch(),
		"Think":          think("Think", "thought"),
		"SetTodoList":    think("Update the plan"),
		"SendDMail":      mode("Go back"),
	}})
}

// Demo is the table of the built-in demonstration. The demo plays agents of both families.
func Demo() Table {
	return merged(Claude(), OpenAI(), Table{rules: map[string]rule{"task": other("Delegate", "prompt")}})
}
