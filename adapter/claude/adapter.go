package claude

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of Claude Code.
func Adapter() agent.Adapter {
	const allows = `"allow"\s*:\s*\[\s*"|"defaultMode"\s*:\s*"(acceptEdits|bypassPermissions|dontAsk|auto)"`
	return agent.Adapter{
		Name: "claude", Files: true, KeepsClosed: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"),
		Environ: []string{
			"ANTHROPIC_*", "CLAUDE_*", "MCP_*", "BASH_*", "DISABLE_*", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "API_TIMEOUT_MS",
			"!CLAUDE_CODE_ENTRYPOINT", "!CLAUDE_CODE_SSE_PORT", // marks of a Claude Code that this program itself runs in
		},
		Grants: []agent.Grant{
			{Path: "~/.claude/settings.json", Pattern: allows}, {Path: ".claude/settings.json", Pattern: allows}, {Path: ".claude/settings.local.json", Pattern: allows},
		},
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o struct {
				// Script is what the command runs, if the command is an interpreter.
				Script []string `json:"script"`
			}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			tools := toolkind.Claude().With(s.ToolKinds)
			return Runtime{Command: s.Command, Script: o.Script, Args: s.Args, Env: s.Environ, Tools: &tools}, nil
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.Claude().With(s.ToolKinds)
			return NewDecoder(Options{Tools: &tools})
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Command: r.Command, Args: slices.Concat(r.Script, r.Args), Environ: r.Env}
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
