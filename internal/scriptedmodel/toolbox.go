package scriptedmodel

// Agents name the same few tools differently; scripts only know three kinds.

func (c Conversation) shell(command string) Call {
	t, ok := c.tool("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "local_shell")
	if !ok {
		return Call{Name: "bash", Input: map[string]any{"command": command}}
	}
	key := t.property("command", "cmd")
	input := map[string]any{key: command}
	if t.Properties[key] == "array" {
		input[key] = []string{"sh", "-c", command}
	}
	if _, ok := t.Properties["description"]; ok {
		input["description"] = "Run a scripted command"
	}
	return Call{Name: t.Name, Input: input}
}

func (c Conversation) read(path string) Call {
	t, ok := c.tool("Read", "read", "read_file", "read_text_file")
	if !ok {
		return c.shell("cat " + path)
	}
	key := t.property("file_path", "filePath", "absolute_path", "path")
	return Call{Name: t.Name, Input: map[string]any{key: path}}
}

func (c Conversation) write(path, content string) Call {
	t, ok := c.tool("Write", "write", "write_file", "write_text_file")
	if !ok {
		return c.shell("cat > " + path + " <<'END'\n" + content + "\nEND")
	}
	key := t.property("file_path", "filePath", "path")
	return Call{Name: t.Name, Input: map[string]any{key: path, "content": content}}
}
