package toolkind

import "github.com/tributary-dev/tributary/trace"

// For returns the table of an adapter by the adapter's name. An agent that
// says itself what its tools do has none.
func For(adapter string) (Table, bool) {
	switch adapter {
	case "claude":
		return Claude(), true
	case "codex":
		return Codex(), true
	case "opencode", "agentops":
		return OpenCode(), true
	case "openai", "langgraph", "openharness":
		return OpenAI(), true
	}
	return Table{}, false
}

// Claude is the table of Claude Code.
func Claude() Table {
	return Table{rules: map[string]rule{
		"Read":                 {kind: trace.ToolRead, verb: "Read", about: []string{"file_path"}, form: file},
		"NotebookRead":         {kind: trace.ToolRead, verb: "Read", about: []string{"notebook_path"}, form: file},
		"ListMcpResourcesTool": {kind: trace.ToolRead, verb: "List resources of", about: []string{"server"}},
		"ReadMcpResourceTool":  {kind: trace.ToolRead, verb: "Read", about: []string{"uri"}},
		"Edit":                 {kind: trace.ToolEdit, verb: "Edit", about: []string{"file_path"}, form: file},
		"MultiEdit":            {kind: trace.ToolEdit, verb: "Edit", about: []string{"file_path"}, form: file},
		"NotebookEdit":         {kind: trace.ToolEdit, verb: "Edit", about: []string{"notebook_path"}, form: file},
		"Write":                {kind: trace.ToolEdit, verb: "Write", about: []string{"file_path"}, form: file},
		"Grep":                 {kind: trace.ToolSearch, verb: "Search for", about: []string{"pattern"}, form: quoted},
		"Glob":                 {kind: trace.ToolSearch, verb: "Find", about: []string{"pattern"}, form: code},
		"LS":                   {kind: trace.ToolSearch, verb: "List", about: []string{"path"}, form: file},
		"ToolSearch":           {kind: trace.ToolSearch, verb: "Search for tools", about: []string{"query"}, form: pointed},
		"Bash":                 {kind: trace.ToolExecute, verb: "Run", about: []string{"command"}, form: code},
		"BashOutput":           {kind: trace.ToolExecute, verb: "Read the output of", about: []string{"bash_id"}},
		"KillShell":            {kind: trace.ToolExecute, verb: "End", about: []string{"shell_id"}},
		"KillBash":             {kind: trace.ToolExecute, verb: "End", about: []string{"shell_id"}},
		"Monitor":              {kind: trace.ToolExecute, verb: "Watch", about: []string{"command", "description"}, form: code},
		"code_execution":       {kind: trace.ToolExecute, verb: "Run", about: []string{"code"}, form: code},
		"bash_code_execution":  {kind: trace.ToolExecute, verb: "Run", about: []string{"command"}, form: code},
		"TodoWrite":            {kind: trace.ToolThink, verb: "Update the plan"},
		"Task":                 {kind: trace.ToolThink, verb: "Delegate", about: []string{"description", "prompt"}, form: pointed},
		"Agent":                {kind: trace.ToolThink, verb: "Delegate", about: []string{"description", "prompt"}, form: pointed},
		"TaskCreate":           {kind: trace.ToolThink, verb: "Plan", about: []string{"subject", "description"}, form: pointed},
		"TaskUpdate":           {kind: trace.ToolThink, verb: "Update the plan"},
		"ExitPlanMode":         {kind: trace.ToolThink, verb: "Approve the plan", about: []string{"plan"}, form: pointed},
		"Skill":                {kind: trace.ToolThink, verb: "Use the skill", about: []string{"skill", "command"}},
		"WebFetch":             {kind: trace.ToolFetch, verb: "Fetch", about: []string{"url"}},
		"web_fetch":            {kind: trace.ToolFetch, verb: "Fetch", about: []string{"url"}},
		"WebSearch":            {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
		"web_search":           {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
		"EnterPlanMode":        {kind: trace.ToolSwitchMode, verb: "Start planning"},
		"EnterWorktree":        {kind: trace.ToolSwitchMode, verb: "Enter the work tree", about: []string{"name"}},
		"ExitWorktree":         {kind: trace.ToolSwitchMode, verb: "Leave the work tree"},
		"AskUserQuestion":      {kind: trace.ToolOther, verb: "Ask the user"},
		"TaskStop":             {kind: trace.ToolOther, verb: "Stop the task", about: []string{"task_id"}},
		"SendMessage":          {kind: trace.ToolOther, verb: "Send a message to", about: []string{"to"}},
	}}
}

// Codex is the table of Codex. Its items name what they do, not a tool.
func Codex() Table {
	return Table{rules: map[string]rule{
		"commandExecution":  {kind: trace.ToolExecute, verb: "Run", about: []string{"command"}, form: code},
		"command_execution": {kind: trace.ToolExecute, verb: "Run", about: []string{"command"}, form: code},
		"fileChange":        {kind: trace.ToolEdit, verb: "Edit", about: []string{"path"}, form: file},
		"file_change":       {kind: trace.ToolEdit, verb: "Edit", about: []string{"path"}, form: file},
		"webSearch":         {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
		"web_search":        {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
		"imageView":         {kind: trace.ToolRead, verb: "Look at", about: []string{"path"}, form: file},
		"plan":              {kind: trace.ToolThink, verb: "Update the plan"},
		"collabToolCall":    {kind: trace.ToolThink, verb: "Delegate", about: []string{"prompt"}, form: pointed},
	}}
}

// OpenCode is the table of OpenCode, which Agent Ops sessions run too.
func OpenCode() Table {
	return Table{rules: map[string]rule{
		"read":      {kind: trace.ToolRead, verb: "Read", about: pathKeys(), form: file},
		"edit":      {kind: trace.ToolEdit, verb: "Edit", about: pathKeys(), form: file},
		"multiedit": {kind: trace.ToolEdit, verb: "Edit", about: pathKeys(), form: file},
		"write":     {kind: trace.ToolEdit, verb: "Write", about: pathKeys(), form: file},
		"patch":     {kind: trace.ToolEdit, verb: "Apply a patch"},
		"grep":      {kind: trace.ToolSearch, verb: "Search for", about: []string{"pattern"}, form: quoted},
		"glob":      {kind: trace.ToolSearch, verb: "Find", about: []string{"pattern"}, form: code},
		"list":      {kind: trace.ToolSearch, verb: "List", about: []string{"path"}, form: file},
		"bash":      {kind: trace.ToolExecute, verb: "Run", about: []string{"command"}, form: code},
		"todowrite": {kind: trace.ToolThink, verb: "Update the plan"},
		"todoread":  {kind: trace.ToolThink, verb: "Read the plan"},
		"task":      {kind: trace.ToolThink, verb: "Delegate", about: []string{"description", "prompt"}, form: pointed},
		"webfetch":  {kind: trace.ToolFetch, verb: "Fetch", about: []string{"url"}},
		"websearch": {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
		"question":  {kind: trace.ToolOther, verb: "Ask the user"},
		"call_tool": {kind: trace.ToolOther, verb: "Call", about: []string{"name", "tool"}},
	}}
}

// OpenAI is the table of functions as harnesses of OpenAI-compatible models
// commonly name them.
func OpenAI() Table {
	return Table{rules: map[string]rule{
		"read_file":   {kind: trace.ToolRead, verb: "Read", about: pathKeys(), form: file},
		"write_file":  {kind: trace.ToolEdit, verb: "Write", about: pathKeys(), form: file},
		"edit_file":   {kind: trace.ToolEdit, verb: "Edit", about: pathKeys(), form: file},
		"apply_patch": {kind: trace.ToolEdit, verb: "Apply a patch"},
		"delete_file": {kind: trace.ToolDelete, verb: "Delete", about: pathKeys(), form: file},
		"move_file":   {kind: trace.ToolMove, verb: "Move", about: []string{"source", "path"}, form: file},
		"grep":        {kind: trace.ToolSearch, verb: "Search for", about: []string{"pattern", "query"}, form: quoted},
		"list_dir":    {kind: trace.ToolSearch, verb: "List", about: []string{"path"}, form: file},
		"bash":        {kind: trace.ToolExecute, verb: "Run", about: []string{"command", "cmd"}, form: code},
		"shell":       {kind: trace.ToolExecute, verb: "Run", about: []string{"command", "cmd"}, form: code},
		"web_fetch":   {kind: trace.ToolFetch, verb: "Fetch", about: []string{"url"}},
		"web_search":  {kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted},
	}}
}
