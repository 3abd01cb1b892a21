package toolkind

import "github.com/tributary-dev/tributary/trace"

// OpenAI is the table of the in-process agent's tools, and of functions as
// harnesses of OpenAI-compatible models commonly name them.
func OpenAI() Table {
	move := edit().of(trace.ToolMove, "Move")
	return Table{rules: map[string]rule{
		"read_file":   read(),
		"write_file":  write(),
		"edit_file":   edit(),
		"apply_patch": patch(),
		"delete_file": edit().of(trace.ToolDelete, "Delete"),
		"move_file":   move,
		"grep":        grep(),
		"glob":        glob(),
		"list_dir":    list(),
		"bash":        run(),
		"shell":       run(),
		"web_fetch":   fetch(),
		"web_search":  webSearch(),
		"ask_user":    ask(),
		"update_plan": think("Update the plan"),
	}}
}

// Gemini is the table of Gemini's command line.
func Gemini() Table {
	return Table{rules: map[string]rule{
		"read_file":             read(),
		"read_many_files":       readMany("include", "paths"),
		"write_file":            write(),
		"replace":               edit(),
		"list_directory":        list(),
		"glob":                  glob(),
		"search_file_content":   grep(),
		"grep_search":           grep(),
		"run_shell_command":     run(),
		"web_fetch":             fetch(),
		"google_web_search":     webSearch(),
		"save_memory":           think("Remember", "fact"),
		"write_todos":           think("Update the plan"),
		"codebase_investigator": delegate(),
		"delegate_to_agent":     delegate(),
		"activate_skill":        think("Use the skill", "name"),
		"get_internal_docs":     resource("Read the manual"),
		"ask_user":              ask(),
		"enter_plan_mode":       mode("Start planning", "reason"),
		"exit_plan_mode":        mode("End planning"),
	}}
}

// Qwen is the table of Qwen Code, which descends from Gemini's command line.
func Qwen() Table {
	return merged(Gemini(), Table{rules: map[string]rule{
		"edit":              edit(),
		"web_search":        webSearch(),
		"todo_write":        think("Update the plan"),
		"task":              delegate(),
		"agent":             delegate(),
		"skill":             think("Use the skill", "skill"),
		"ask_user_question": ask(),
		"lsp":               list().as("Ask the language server about"),
	}})
}

// Vibe is the table of Mistral's command line.
func Vibe() Table {
	return merged(OpenAI(), Table{rules: map[string]rule{
		"search_replace":    edit(),
		"todo":              think("Update the plan"),
		"task":              delegate(),
		"ask_user_question": ask(),
	}})
}
