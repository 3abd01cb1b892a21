package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
)

// Which settings of a workspace need a decision before Claude Code starts.
func TestSettingsFilesOfClaudeCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runtime    claude.Runtime
		path, text string
		count      bool
	}{
		"rules and hooks":                {path: ".claude/settings.json", text: `{"permissions":{"allow":["Bash"]},"hooks":{}}`},
		"hooks that run":                 {claude.Runtime{Hooks: true}, ".claude/settings.json", `{"hooks":{}}`, true},
		"hooks of a script's settings":   {claude.Runtime{Script: []string{"x"}}, ".claude/settings.json", `{"hooks":{}}`, true},
		"a helper":                       {path: ".claude/settings.json", text: `{"apiKeyHelper":"x"}`, count: true},
		"variables, for one person":      {path: ".claude/settings.local.json", text: `{"env":{}}`, count: true},
		"servers":                        {path: ".mcp.json", text: `{"mcpServers":{}}`, count: true},
		"servers, and the user's only":   {claude.Runtime{Args: []string{"--setting-sources", "user"}}, ".mcp.json", `{"mcpServers":{}}`, false},
		"servers, and the project's":     {claude.Runtime{Args: []string{"--setting-sources=user,project"}}, ".mcp.json", `{"mcpServers":{}}`, true},
		"servers, and the last argument": {claude.Runtime{Args: []string{"--setting-sources=user", "--setting-sources", "local"}}, ".mcp.json", `{"mcpServers":{}}`, true},
		"servers, and no requests":       {claude.Runtime{Unguarded: true}, ".mcp.json", `{"mcpServers":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, c.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := workspace.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if found := agent.FindSettings(c.runtime.SettingsFiles(), d); (len(found) > 0) != c.count {
				t.Errorf("found %v, want %v", found, c.count)
			}
			without, _ := c.runtime.WithoutSettings().(claude.Runtime)
			if found := agent.FindSettings(without.SettingsFiles(), d); len(found) > 0 {
				t.Errorf("an agent without the settings has %v", found)
			}
		})
	}
}
