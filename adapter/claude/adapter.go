package claude

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of Claude Code.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "claude", Files: true, KeepsClosed: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"),
		Environ: []string{
			"ANTHROPIC_*", "CLAUDE_*", "MCP_*", "BASH_*", "DISABLE_*", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "API_TIMEOUT_MS",
			"!CLAUDE_CODE_ENTRYPOINT", "!CLAUDE_CODE_SSE_PORT", // marks of a Claude Code that this program itself runs in
		},
		Box: agent.ClaudeBox(),
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o struct {
				// Script is what the command runs, if the command is an interpreter.
				Script []string `json:"script"`
				// Hooks lets the hooks of settings files run.
				Hooks bool `json:"hooks"`
			}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			tools := toolkind.Claude().With(s.ToolKinds)
			return Runtime{Command: s.Command, Script: o.Script, Hooks: o.Hooks, Args: s.Args, Env: s.Environ, Tools: &tools, Unguarded: s.AllowBypass}, nil
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.Claude().With(s.ToolKinds)
			return NewDecoder(Options{Tools: &tools})
		},
	}
}

// LooseSettings find the settings by which Claude Code acts without asking where it has no hooks.
func LooseSettings() (all []agent.Grant) {
	const pattern = `"allow"\s*:\s*\[\s*"|"defaultMode"\s*:\s*"(acceptEdits|bypassPermissions|dontAsk|auto)"`
	for _, path := range []string{"~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		all = append(all, agent.Grant{Path: path, Pattern: pattern})
	}
	return all
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Command: r.Command, Args: slices.Concat(r.Script, r.Args), Environ: r.Env}
}

// SettingsFiles implements agent.SettingsReader.
func (r Runtime) SettingsFiles() []agent.SettingsFile {
	if r.Unguarded || leavesProject(r.Args) {
		return nil
	}
	return agent.ClaudeSettings(!r.ownHooksOnly())
}

// leavesProject reports whether the arguments leave the settings of the project out.
func leavesProject(args []string) bool {
	const flag = "--setting-sources"
	leaves := false
	for i, a := range args { // the last one counts
		value, is := strings.CutPrefix(a, flag+"=")
		if a == flag && i+1 < len(args) {
			value, is = args[i+1], true
		}
		if is {
			leaves = !strings.Contains(value, "project") && !strings.Contains(value, "local")
		}
	}
	return leaves
}

// WithoutSettings implements agent.SettingsReader. Claude Code then also ignores the commands, skills and rules of the project.
func (r Runtime) WithoutSettings() agent.Runtime {
	r.Args = append(slices.Clone(r.Args), "--setting-sources", "user")
	return r
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
