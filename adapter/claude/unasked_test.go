//go:build unix

package claude_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// situation is one process of Claude Code with files, and ways that work in it.
type situation struct {
	files map[string]string
	args  []string
	hooks bool
	mode  string
	rules []permission.Rule // of the policy
	ways  []agenttest.Way
}

func shell(file string) string { return "[[script:shell touch WORK/" + file + "]]" }

func task(kind, background, script string) string {
	return `[[script:call Task {"description":"sub task","subagent_type":"` + kind + `","run_in_background":` + background + `,"prompt":"[[script:` + script + `]]"}]]`
}

const (
	allowsShell  = `{"permissions":{"allow":["Bash(touch:*)","Bash"]}}`
	runsPrograms = `{"enableAllProjectMcpServers":true,"apiKeyHelper":"touch WORK/by-key; echo sk-test","statusLine":{"type":"command","command":"touch WORK/by-status"},
"env":{"CLAUDE_CODE_SHELL_PREFIX":"WORK/prefix.sh"},"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch WORK/by-start"}]}],"PreToolUse":[{"hooks":[{"type":"command","command":"touch WORK/by-hook"}]}]}}`
	server = `{"mcpServers":{"x":{"command":"/bin/sh","args":["-c","touch WORK/by-server"]}}}`
	prefix = "#!/bin/sh\ntouch WORK/by-prefix\neval \"$1\"\n"

	armedAgent = "---\nname: armed\ndescription: works\nmcpServers:\n  - evil:\n      type: stdio\n      command: /bin/sh\n      args: [\"-c\", \"touch WORK/by-server\"]\n---\nYou work."

	usesSkill = `[[script:call Skill {"skill":"armed"}]]`
)

// skillWithHooks is a skill of which Claude Code itself would ask, if the settings did not allow it.
var skillWithHooks = map[string]string{
	"WORK/.claude/settings.json": `{"permissions":{"allow":["Skill"]}}`,
	"WORK/.claude/skills/armed/SKILL.md": "---\nname: armed\ndescription: has hooks\nhooks:\n  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n          command: touch WORK/by-skill-hook\n---\n" +
		shell("by-skill"),
}

// programs are ways that need no call of the model.
func programs(where string) []agenttest.Way {
	return []agenttest.Way{
		{Name: "hook `SessionStart` " + where, Prompt: "[[script:shell ls]]", Mark: "by-start", Program: true, Lets: "Run"},
		{Name: "hook `PreToolUse` " + where, Mark: "by-hook", Program: true},
		{Name: "`apiKeyHelper` " + where, Mark: "by-key", Program: true},
		{Name: "`statusLine` " + where, Mark: "by-status", Program: true},
		{Name: "`env` " + where, Mark: "by-prefix", Program: true},
		{Name: "`.mcp.json` with `enableAllProjectMcpServers` " + where, Mark: "by-server", Program: true},
	}
}

func answers(event, decision string) string {
	return `{"hooks":{"` + event + `":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"` + event + `\",` + decision + `}}'"}]}]}}`
}

func situations() []situation {
	worker := func(name, mode string) string {
		return "---\nname: " + name + "\ndescription: works\ntools: Bash, Write\npermissionMode: " + mode + "\n---\nYou work."
	}
	return []situation{
		{
			files: map[string]string{
				"HOME/.claude/settings.json":        `{"permissions":{"allow":["Bash(touch WORK/user:*)"]}}`,
				"WORK/.claude/settings.json":        `{"permissions":{"allow":["Bash(touch WORK/project:*)"]}}`,
				"WORK/.claude/settings.local.json":  `{"permissions":{"allow":["Bash(touch WORK/local:*)"],"additionalDirectories":["ELSE"]}}`,
				"ELSE/secret":                       "word-of-elsewhere\n",
				"HOME/secret":                       "word-of-home\n",
				"WORK/link":                         "-> ELSE",
				"WORK/.claude/skills/hey/SKILL.md":  "---\nname: hey\ndescription: says hey\nallowed-tools: Bash(touch:*), Bash\n---\nNow: !`touch WORK/skill-line`\n" + shell("skill"),
				"WORK/.claude/skills/know/SKILL.md": "---\nname: know\ndescription: knows\nallowed-tools: Bash(touch:*)\n---\nNow: !`touch WORK/model-line`\n" + shell("model"),
				"WORK/.claude/commands/deploy.md":   "---\nallowed-tools: Bash(touch:*), Bash\ndescription: d\n---\nRun: !`touch WORK/command-line`\n" + shell("command"),
				"WORK/.claude/agents/loose.md":      worker("loose", "bypassPermissions"),
				"WORK/.claude/agents/editor.md":     worker("editor", "acceptEdits"),
			},
			ways: []agenttest.Way{
				{Name: "`permissions.allow` of the user", Prompt: shell("user"), Mark: "user"},
				{Name: "`permissions.allow` of the project", Prompt: shell("project"), Mark: "project"},
				{Name: "`permissions.allow` in `settings.local.json`", Prompt: shell("local"), Mark: "local"},
				{Name: "`additionalDirectories`: a file there is read", Prompt: "[[script:read ELSE/secret]]", Mark: ">word-of-elsewhere"},
				{Name: "a file is read by `~`", Prompt: "[[script:read ~/secret]]", Mark: ">word-of-home"},
				{Name: "a file is read through a link", Prompt: "[[script:read WORK/link/secret]]", Mark: ">word-of-elsewhere"},
				{Name: "a file is written through a link", Prompt: "[[script:write WORK/link/planted]]", Mark: "link/planted"},
				{Name: "a command goes elsewhere by `cd`", Prompt: "[[script:shell cd .. && touch WORK/gone]]", Mark: "gone"},
				{Name: "a command in the background", Prompt: `[[script:call Bash {"command":"touch WORK/behind","description":"d","run_in_background":true}]]`, Mark: "behind"},
				{Name: "a prompt that begins with a frontmatter", Prompt: "---\nallowed-tools: Bash(touch:*), Bash\n---\n" + shell("front"), Mark: "front"},
				{Name: "a file of the workspace is read", Prompt: "[[script:read WORK/hello.txt]]", Mark: ">hello from a file"},
				{Name: "a command that only reads", Prompt: "[[script:shell cat hello.txt]]", Mark: ">hello from a file"},
				{Name: "shell line of a skill", Prompt: "/hey", Mark: "skill-line"},
				{Name: "`allowed-tools` of a skill", Mark: "skill"},
				{Name: "shell line of a skill that the model uses", Prompt: `[[script:call Skill {"skill":"know"}]]`, Mark: "model-line", Lets: "Use the skill"},
				{Name: "`allowed-tools` of a skill that the model uses", Mark: "model"},
				{Name: "shell line of a command", Prompt: "/deploy", Mark: "command-line"},
				{Name: "`allowed-tools` of a command", Mark: "command"},
				{Name: "sub-agent with `permissionMode: bypassPermissions`", Prompt: task("loose", "false", "shell touch WORK/loose"), Mark: "loose"},
				{Name: "sub-agent with `permissionMode: acceptEdits`", Prompt: task("editor", "false", "write WORK/editor"), Mark: "editor"},
			},
		},
		{
			files: map[string]string{"WORK/.claude/agents/in/armed.md": armedAgent},
			ways:  []agenttest.Way{{Name: "`mcpServers` of a sub-agent of the project", Prompt: task("armed", "false", "plain"), Mark: "by-server", Program: true}},
		},
		{
			files: map[string]string{
				"WORK/.claude/skills/p/SKILL.md":                   "---\nname: p\ndescription: is a plugin\n---\nNothing.",
				"WORK/.claude/skills/p/.claude-plugin/plugin.json": `{"name":"p","version":"1.0.0"}`, "WORK/.claude/skills/p/.mcp.json": server,
			},
			ways: []agenttest.Way{{Name: "server of a skill of the project that is a plugin", Prompt: "[[script:plain]]", Mark: "by-server", Program: true}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": `{"permissions":{"defaultMode":"acceptEdits"}}`, "WORK/.claude/settings.json": `{"permissions":{"defaultMode":"acceptEdits"}}`},
			ways:  []agenttest.Way{{Name: "`defaultMode: acceptEdits`", Prompt: "[[script:write WORK/accepted]]", Mark: "accepted"}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": `{"skipDangerousModePermissionPrompt":true,"permissions":{"defaultMode":"bypassPermissions"}}`},
			ways:  []agenttest.Way{{Name: "`defaultMode: bypassPermissions`", Prompt: shell("bypassed"), Mark: "bypassed"}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": allowsShell}, mode: "plan",
			ways: []agenttest.Way{
				{Name: "plan mode: a command", Prompt: shell("planned"), Mark: "planned"},
				{Name: "plan mode: a sub-agent with a command", Prompt: task("general-purpose", "false", "shell touch WORK/subplanned"), Mark: "subplanned"},
			},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": allowsShell, "WORK/.claude/settings.json": `{"disableAllHooks":true}`},
			ways:  []agenttest.Way{{Name: "`disableAllHooks`, and `permissions.allow`", Prompt: shell("unhooked"), Mark: "unhooked"}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": answers("PreToolUse", `\"permissionDecision\":\"allow\"`)},
			ways:  []agenttest.Way{{Name: "hook `PreToolUse` answers `allow`", Prompt: shell("prehook"), Mark: "prehook"}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": answers("PermissionRequest", `\"decision\":{\"behavior\":\"allow\"}`)},
			ways:  []agenttest.Way{{Name: "hook `PermissionRequest` answers before the person", Prompt: shell("answered"), Mark: "answered", Slow: true}},
		},
		{
			files: map[string]string{"HOME/.claude/settings.json": answers("PermissionRequest", `\"decision\":{\"behavior\":\"allow\"}`)}, hooks: true,
			ways: []agenttest.Way{{Name: "the same, with `options: {hooks: true}`", Prompt: shell("answered"), Mark: "answered", Slow: true}},
		},
		{
			files: skillWithHooks,
			ways: []agenttest.Way{
				{Name: "`permissions.allow` of the project: the model uses a skill with hooks", Prompt: usesSkill, Mark: ">Launching skill"},
				{Name: "a command of that skill", Mark: "by-skill"},
				{Name: "a hook of that skill", Mark: "by-skill-hook", Program: true},
			},
		},
		{
			files: skillWithHooks, rules: []permission.Rule{{Tool: "Skill", Then: permission.Deny}},
			ways: []agenttest.Way{{Name: "the same, and a rule of the policy denies `Skill`: the model uses that skill", Prompt: usesSkill, Mark: ">Launching skill"}},
		},
		{
			files: map[string]string{"WORK/.claude/settings.json": runsPrograms, "WORK/.mcp.json": server, "WORK/prefix.sh": prefix},
			ways:  programs("of the project"),
		},
		{
			files: map[string]string{"WORK/.claude/settings.json": runsPrograms, "WORK/.mcp.json": server, "WORK/prefix.sh": prefix},
			args:  []string{"--setting-sources", "user"}, ways: programs("of the project, with `--setting-sources user`"),
		},
	}
}

// unaskedTable is the table that docs/deploy/security.md prints.
const unaskedTable = "testdata/unasked.md"

// TestRealClaudeActsUnasked plays ways to act without asking, and writes what is left into a
// table. A way is closed if it did nothing, while the person denied whatever was asked.
func TestRealClaudeActsUnasked(t *testing.T) {
	all := situations()
	lines := make([][]string, len(all))
	t.Run("situation", func(t *testing.T) {
		for i, s := range all {
			t.Run(s.ways[0].Name, func(t *testing.T) {
				t.Parallel()
				lines[i] = s.play(t)
			})
		}
	})
	if t.Failed() || slices.ContainsFunc(lines, func(of []string) bool { return of == nil }) {
		return // not all ways were played
	}
	table := "| way | what happens |\n|---|---|\n" + strings.Join(slices.Concat(lines...), "")
	replaytest.Golden(t, unaskedTable, []byte(table))
}

func TestTheTablesOfWaysAreInTheDocs(t *testing.T) {
	t.Parallel()
	var table []byte
	for _, name := range []string{unaskedTable, "../codex/" + unaskedTable, "../opencode/" + unaskedTable, "../acp/" + unaskedTable} {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table = append(table, part...)
	}
	docs, err := os.ReadFile("../../docs/deploy/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(docs, table) {
		t.Errorf("docs/deploy/security.md has not this table of the four adapters: copy it there\n%s", table)
	}
}

func (s situation) play(t *testing.T) []string {
	t.Helper()
	real := realagent.Claude(t)
	// Claude Code heeds allow rules of a workspace only if the user trusts it.
	files := map[string]string{"HOME/.claude/.claude.json": `{"hasCompletedOnboarding":true,"projects":{"WORK":{"hasTrustDialogAccepted":true}}}`}
	maps.Copy(files, s.files)
	runtime := claude.Runtime{Command: real.Path, Env: real.Env, Args: s.args, Hooks: s.hooks}
	return agenttest.Ways(t, real.Dir, real.Home, files, s.ways, runtime, func(r agent.Runtime, host agent.Host) agent.Session {
		host.(*agenttest.Host).Judge = func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
			return permission.Policy{Rules: s.rules}.Decide(r, c, permission.Scope{Tools: toolkind.Claude()})
		}
		return agenttest.Open(t, r, host, agent.Config{Cwd: real.Dir, Mode: s.mode})
	})
}
