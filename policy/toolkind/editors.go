package toolkind

import "github.com/tributary-dev/tributary/trace"

// Copilot is the table of GitHub Copilot's command line.
func Copilot() Table {
	return Table{rules: map[string]rule{
		"view":                            read(),
		"create":                          write(),
		"edit":                            edit(),
		"str_replace":                     edit(),
		"apply_patch":                     patch(),
		"grep":                            grep(),
		"rg":                              grep(),
		"glob":                            glob(),
		"bash":                            run(),
		"powershell":                      run(),
		"read_bash":                       shell("Read the output of", "shellId"),
		"write_bash":                      shell("Write to", "shellId"),
		"stop_bash":                       shell("End", "shellId"),
		"list_bash":                       shell("List the shells"),
		"web_fetch":                       fetch(),
		"web_search":                      webSearch(),
		"task":                            delegate(),
		"skill":                           think("Use the skill", "skill"),
		"read_agent":                      think("Read the report of", "agent_id"),
		"list_agents":                     think("List the sub-agents"),
		"update_todo":                     think("Update the plan"),
		"report_intent":                   think("Say the intent", "intent"),
		"store_memory":                    think("Remember", "fact"),
		"ask_user":                        ask(),
		"exit_plan_mode":                  mode("End planning"),
		"task_complete":                   think("Finish", "summary"),
		"fetch_copilot_cli_documentation": resource("Read the manual"),
	}}
}

// Cursor is the table of Cursor's agent.
func Cursor() Table {
	return Table{rules: map[string]rule{
		"read_file":        read(),
		"write":            write(),
		"edit_file":        edit(),
		"search_replace":   edit(),
		"delete_file":      edit().of(trace.ToolDelete, "Delete"),
		"list_dir":         list(),
		"grep":             grep(),
		"grep_search":      grep(),
		"file_search":      glob(),
		"glob_file_search": glob(),
		"codebase_search":  lookup("Search the code for", "query"),
		"run_terminal_cmd": run(),
		"web_search":       webSearch(),
		"todo_write":       think("Update the plan"),
		"create_plan":      think("Plan", "name"),
	}}
}

// Goose is the table of Goose. Its editor both shows and changes files.
func Goose() Table {
	editor := edit().of(trace.ToolEdit, "Edit")
	return Table{rules: map[string]rule{
		"developer__shell":                      run(),
		"developer__text_editor":                editor,
		"developer__write":                      write(),
		"developer__edit":                       edit(),
		"developer__tree":                       list(),
		"developer__analyze":                    list().as("Analyse"),
		"developer__image_processor":            read().of(trace.ToolRead, "Look at"),
		"developer__screen_capture":             other("Capture the screen"),
		"todo__todo_write":                      think("Update the plan"),
		"todo__todo_read":                       think("Read the plan"),
		"dynamic_task__create_task":             delegate(),
		"subagent__execute_task":                delegate(),
		"platform__manage_schedule":             other("Schedule", "action"),
		"platform__search_available_extensions": other("Search for extensions"),
		"computercontroller__web_scrape":        fetch(),
		// Since 1.50 the tools of the developer have no prefix.
		"shell":      run(),
		"read":       read(),
		"write":      write(),
		"edit":       edit(),
		"tree":       list(),
		"analyze":    list().as("Analyse"),
		"read_image": read().of(trace.ToolRead, "Look at"),
		"delegate":   delegate(),
		"load_skill": think("Use the skill", "name"),
	}}
}

// Pi is the table of Pi.
func Pi() Table {
	return Table{rules: map[string]rule{
		"read": read(), "write": write(), "edit": edit(), "bash": run(), "grep": grep(), "find": glob(), "ls": list(),
	}}
}
