package scriptedmodel

import "strings"

// Agents name the same few tools differently; scripts know five kinds.

func (c Conversation) shell(command string) Call {
	t, ok := c.tool("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "local_shell", "Shell", "run_commands")
	if !ok {
		return Call{Name: "bash", Input: map[string]any{"command": command}}
	}
	key := t.property("command", "cmd", "commands")
	input := map[string]any{key: command}
	switch {
	case key == "commands":
		input[key] = []string{command}
	case t.Properties[key] == "array":
		input[key] = []string{"sh", "-c", command}
	}
	if _, ok := t.Properties["description"]; ok {
		input["description"] = "Run a scripted command"
	}
	return Call{Name: t.Name, Input: input}
}

// escalate is shell for agents that ask somebody only about commands that want
// to leave their sandbox.
func (c Conversation) escalate(command string) Call {
	call := c.shell(command)
	if t, ok := c.tool(call.Name); ok && t.Properties["sandbox_permissions"] != "" {
		call.Input["sandbox_permissions"] = "require_escalated"
		call.Input["justification"] = "The script wants it."
	}
	return call
}

func (c Conversation) read(path string) Call {
	t, ok := c.tool("Read", "read", "read_file", "read_text_file", "view", "ReadFile", "read_files")
	if !ok {
		return c.shell("cat " + path)
	}
	if _, list := t.Properties["files"]; list {
		return Call{Name: t.Name, Input: map[string]any{"files": []any{map[string]any{"path": path}}}}
	}
	key := t.property("file_path", "filePath", "absolute_path", "path")
	return Call{Name: t.Name, Input: map[string]any{key: path}}
}

func (c Conversation) write(path, content string) Call {
	if t, ok := c.tool("Write", "write", "write_file", "write_text_file", "create", "WriteFile"); ok {
		input := map[string]any{t.property("file_path", "filePath", "path"): path}
		input[t.property("content", "file_text")] = content
		return Call{Name: t.Name, Input: input}
	}
	if t, ok := c.tool("apply_patch"); ok {
		patch := "*** Begin Patch\n*** Add File: " + path + "\n" + added(content) + "*** End Patch\n"
		if t.Freeform {
			return Call{Name: t.Name, Text: patch}
		}
		return Call{Name: t.Name, Input: map[string]any{t.property("input", "patch", "patchText"): patch}}
	}
	return c.shell("cat > " + path + " <<'END'\n" + content + "\nEND")
}

// plan sets a plan whose first step is done and whose second one is under way.
func (c Conversation) plan(steps []string) Call {
	t, ok := c.tool("TodoWrite", "todowrite", "update_plan", "write_todos", "todo_write", "TodoList", "SetTodoList")
	if !ok {
		return Call{Name: "update_plan", Input: map[string]any{}}
	}
	status := func(i int) string { return []string{"completed", "in_progress", "pending"}[min(i, 2)] }
	key := t.property("todos", "plan", "items")
	var list []any
	for i, step := range steps {
		list = append(list, t.item(key, map[string]any{
			"content": step, "step": step, "description": step, "title": step, "activeForm": step,
			"id": string(rune('1' + i)), "status": status(i), "priority": "medium",
		}))
	}
	return Call{Name: t.Name, Input: map[string]any{key: list}}
}

// ask asks one question with choices.
func (c Conversation) ask(question string, labels []string) Call {
	t, ok := c.tool("AskUserQuestion", "question", "ask_user", "ask_user_question", "request_user_input")
	if !ok {
		return Call{Name: "AskUserQuestion", Input: map[string]any{}}
	}
	if _, list := t.Properties["questions"]; !list {
		return Call{Name: t.Name, Input: map[string]any{t.property("question", "prompt"): question, t.property("choices", "options"): labels}}
	}
	var options []any
	for _, label := range labels {
		options = append(options, map[string]any{"label": label, "description": "The choice " + label})
	}
	return Call{Name: t.Name, Input: map[string]any{"questions": []any{t.item("questions", map[string]any{
		"question": question, "header": "Question", "options": options, "multiSelect": false, "id": "question", "type": "choice",
	})}}}
}

// item returns of an object what the items of a list may hold.
func (t Tool) item(list string, all map[string]any) map[string]any {
	known, ok := t.Items[list]
	if !ok {
		return all
	}
	out := map[string]any{}
	for key := range known.Properties {
		if v, ok := all[key]; ok {
			out[key] = v
		}
	}
	return out
}

// added returns a text as the added lines of a patch.
func added(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}
