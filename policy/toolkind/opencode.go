package toolkind

import "github.com/tributary-dev/tributary/trace"

// OpenCode is the table of OpenCode, which Agent Ops sessions run too.
func OpenCode() Table {
	return Table{rules: map[string]rule{
		"read":        read(),
		"edit":        edit(),
		"multiedit":   edit().of(trace.ToolEdit, "Edit"),
		"write":       write(),
		"patch":       patch(),
		"apply_patch": patch(),
		"grep":        grep(),
		"codesearch":  {kind: trace.ToolFetch, verb: "Search code for", about: []string{"query"}, form: quoted},
		"glob":        glob(),
		"list":        list(),
		"lsp":         list().as("Ask the language server about"),
		"bash":        run(),
		"todowrite":   think("Update the plan"),
		"todoread":    think("Read the plan"),
		"task":        delegate(),
		"skill":       think("Use the skill", "name"),
		"batch":       other("Call several tools"),
		"webfetch":    fetch(),
		"websearch":   webSearch(),
		"question":    ask(),
		"plan_enter":  mode("Start planning"),
		"plan_exit":   mode("End planning"),
		"call_tool":   other("Call", "name", "tool", "tool_id"),
		"invalid":     other("Call a tool that does not exist", "tool"),
	}}
}

// OpenCodeAsks reports whether a permission of OpenCode is about a tool. A permission has the name
// of its tool, and the permission edit is about each tool of the table that edits, whatever the
// configuration says of the tool.
func (t Table) OpenCodeAsks(permission, rawName string) bool {
	return permission == rawName || permission == "edit" && t.rules[rawName].kind == trace.ToolEdit
}

// Cline is the table of Cline and of the agents that descend from it.
func Cline() Table {
	return Table{rules: map[string]rule{
		"read_file":                  read(),
		"list_files":                 list(),
		"search_files":               grep(),
		"list_code_definition_names": list().as("List the definitions in"),
		"write_to_file":              write(),
		"replace_in_file":            edit(),
		"execute_command":            run(),
		"browser_action":             fetch().as("Use the browser at"),
		"web_fetch":                  fetch(),
		"web_search":                 webSearch(),
		"use_mcp_tool":               other("Call", "tool_name", "server_name"),
		"access_mcp_resource":        resource("Read", "uri"),
		"ask_followup_question":      ask(),
		"attempt_completion":         think("Finish"),
		"plan_mode_respond":          think("Plan"),
		"new_task":                   delegate(),
	}}
}

// Kilo is the table of Kilo: OpenCode's server, with older names of its own.
func Kilo() Table {
	return merged(Cline(), OpenCode(), Table{rules: map[string]rule{
		"apply_diff":         edit(),
		"search_and_replace": edit().of(trace.ToolEdit, "Edit"),
		"insert_content":     edit().of(trace.ToolEdit, "Edit"),
		"edit_file":          edit(),
		"codebase_search":    lookup("Search the code for", "query"),
		"switch_mode":        mode("Switch to the mode", "mode_slug"),
		"update_todo_list":   think("Update the plan"),
	}})
}
