//go:build unix

package codex_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

// TestRealCodexActsUnasked plays ways to act without asking; see agenttest.Ways.
func TestRealCodexActsUnasked(t *testing.T) {
	const rule = `prefix_rule(pattern = ["touch"], decision = "allow")` + "\n"
	const programs = "notify = [\"touch\", \"WORK/by-notify\"]\n[mcp_servers.x]\ncommand = \"touch\"\nargs = [\"WORK/by-server\"]\n"
	const hooks = `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch WORK/by-start"}]}],"PermissionRequest":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}'"}]}]}}`
	shell := func(file string) string { return "[[script:shell touch WORK/" + file + "]]" }
	started := func(where string) []agenttest.Way {
		return []agenttest.Way{
			{Name: "Codex: `notify` " + where, Prompt: "[[script:plain]]", Mark: "by-notify", Program: true},
			{Name: "Codex: `mcp_servers` " + where, Mark: "by-server", Program: true},
		}
	}
	all := []struct {
		config string // in front of the user's own
		files  map[string]string
		asks   string // the option approval
		ways   []agenttest.Way
	}{
		{
			config: "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n",
			files:  map[string]string{"ELSE/secret": "word-of-elsewhere\n", "HOME/secret": "word-of-home\n", "WORK/link": "-> ELSE"},
			ways: []agenttest.Way{
				{Name: "Codex: `approval_policy` and `sandbox_mode` of the user", Prompt: shell("user"), Mark: "user"},
				{Name: "Codex: the same, and a patch", Prompt: "[[script:write WORK/patched]]", Mark: "patched"},
				{Name: "Codex: the same, and a patch through a link", Prompt: "[[script:write WORK/link/planted]]", Mark: "link/planted"},
				{Name: "Codex: a file is read by `~`", Prompt: "[[script:shell cat ~/secret]]", Mark: ">word-of-home"},
				{Name: "Codex: a file is read through a link", Prompt: "[[script:shell cat WORK/link/secret]]", Mark: ">word-of-elsewhere"},
				{Name: "Codex: a command goes elsewhere by `cd`", Prompt: "[[script:shell cd .. && touch WORK/gone]]", Mark: "gone"},
				{Name: "Codex: a command in the background", Prompt: "[[script:shell sh -c 'touch WORK/behind' & wait]]", Mark: "behind"},
				{Name: "Codex: a prompt that begins with a frontmatter", Prompt: "---\nallowed-tools: shell\n---\n" + shell("front"), Mark: "front"},
			},
		},
		{
			files: map[string]string{"WORK/.codex/config.toml": "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n"},
			ways:  []agenttest.Way{{Name: "Codex: `approval_policy` and `sandbox_mode` of the project", Prompt: shell("project"), Mark: "project"}},
		},
		{
			files: map[string]string{"HOME/.codex/rules/default.rules": rule},
			ways:  []agenttest.Way{{Name: "Codex: rule of the user with `decision = \"allow\"`", Prompt: shell("ruled"), Mark: "ruled"}},
		},
		{
			files: map[string]string{"WORK/.codex/rules/default.rules": rule},
			ways:  []agenttest.Way{{Name: "Codex: rule of the project with `decision = \"allow\"`", Prompt: shell("ruled"), Mark: "ruled"}},
		},
		{
			config: "approvals_reviewer = \"auto_review\"\n",
			asks:   "on-request",
			ways:   []agenttest.Way{{Name: "Codex: `approvals_reviewer = \"auto_review\"` of the user", Prompt: "[[script:escalate touch WORK/reviewed]]", Mark: "reviewed"}},
		},
		{
			files: map[string]string{"HOME/.codex/hooks.json": hooks},
			ways: []agenttest.Way{
				{Name: "Codex: hook `PermissionRequest` that nobody has trusted answers", Prompt: shell("hooked"), Mark: "hooked"},
				{Name: "Codex: hook `SessionStart` that nobody has trusted", Mark: "by-start", Program: true},
			},
		},
		{config: programs, ways: started("of the user")},
		{files: map[string]string{"WORK/.codex/config.toml": programs}, ways: started("of the project")},
	}
	lines := make([][]string, len(all))
	t.Run("situation", func(t *testing.T) {
		for i, s := range all {
			t.Run(s.ways[0].Name, func(t *testing.T) {
				t.Parallel()
				real := realCodex(t)
				own, err := os.ReadFile(real.Home + "/.codex/config.toml")
				if err != nil {
					t.Fatal(err)
				}
				front, tables, _ := strings.Cut(s.config, "\n[")
				kept := slices.DeleteFunc(slices.Collect(strings.Lines(string(own))), func(line string) bool { // no key may come twice
					key, _, _ := strings.Cut(line, " ")
					return strings.Contains(front, key+" = ")
				})
				files := map[string]string{"HOME/.codex/config.toml": front + "\n" + strings.Join(kept, "")}
				if tables != "" {
					files["HOME/.codex/config.toml"] += "\n[" + tables
				}
				maps.Copy(files, s.files)
				runtime := real.runtime()
				if runtime.Settings, err = (codex.Settings{Approval: s.asks}).Filled(); err != nil {
					t.Fatal(err)
				}
				lines[i] = agenttest.Ways(t, real.Dir, real.Home, files, s.ways, runtime, func(_ agent.Runtime, host agent.Host) agent.Session { return real.session(t, runtime, host, "") })
			})
		}
	})
	if !t.Failed() && !slices.ContainsFunc(lines, func(of []string) bool { return of == nil }) {
		replaytest.Golden(t, "testdata/unasked.md", []byte(strings.Join(slices.Concat(lines...), "")))
	}
}
