package toolkind_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/toolkind"
)

// TestH32RecordedTools takes the names of all tools in the recordings of real agents.
// TRIBUTARY_RECORDINGS names a further folder, whose files begin with the name of
// their agent.
func TestH32RecordedTools(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "test", "recordings")
	found := 0
	for _, dir := range []string{root, os.Getenv("TRIBUTARY_RECORDINGS")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
				return err
			}
			agent := filepath.Base(filepath.Dir(path))
			switch file := filepath.Base(path); {
			case strings.Contains(file, "unknown-tool"):
				return nil // the recording is of a call that the agent does not know either
			case dir != root:
				agent = agentOf(file)
			case agent == "acp":
				agent, _, _ = strings.Cut(file, "-")
			}
			table, ok := toolkind.For(agent)
			if !ok || agent == "openharness" {
				return nil // the tools there are those of each application
			}
			for _, name := range toolNames(t, path) {
				found++
				if !table.Knows(name) && !strings.HasPrefix(name, "mcp__") {
					t.Errorf("%s: the table of %s does not know the tool %s", path, agent, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("only %d tools were found in the recordings", found)
	}
}

// agentOf finds the agent whose name a file's name begins with.
func agentOf(file string) string {
	switch {
	case strings.HasPrefix(file, "claude-agent-acp"):
		return "claude-acp"
	case strings.HasPrefix(file, "claude"):
		return "claude"
	}
	agent, _, _ := strings.Cut(file, "-")
	return agent
}

// toolNames are the names of the tools in a recording, each once.
func toolNames(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var v any
		if json.Unmarshal(line, &v) == nil {
			names = named(v, names)
		}
		if err != nil {
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
}

func named(v any, names []string) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			names = named(e, names)
		}
	case map[string]any:
		for key, is := range map[string]bool{
			"name":      v["type"] == "tool_use" || v["type"] == "server_tool_use",
			"tool":      v["type"] == "tool" && v["callID"] != nil,
			"tool_name": v["subtype"] == "can_use_tool",
			"toolName":  true,
			"type":      v["status"] != nil && v["id"] != nil,
		} {
			if name, ok := v[key].(string); ok && is && name != "" && !notATool(key, name) {
				names = append(names, name)
			}
		}
		for _, e := range v {
			names = named(e, names)
		}
	}
	return names
}

// notATool names the things that have an id and a state and are no tool.
func notATool(key, name string) bool {
	return key == "type" && !strings.Contains(strings.ToLower(name), "command") && !strings.Contains(strings.ToLower(name), "change") &&
		!strings.HasSuffix(name, "Call")
}
