package codex

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of Codex.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "codex", Files: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"),
		Environ: []string{"CODEX_*", "OPENAI_*", "!CODEX_SANDBOX", "!CODEX_SANDBOX_NETWORK_DISABLED", "!CODEX_THREAD_ID"}, // marks of a Codex that this program itself runs in
		Box:     agent.CodexBox(),
		Grants:  []agent.Grant{{Path: "~/.codex/rules/default.rules", Pattern: `decision\s*=\s*"allow"`}},
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o Settings
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			o, err := o.Filled()
			tools := toolkind.Codex().With(s.ToolKinds)
			return Runtime{Command: s.Command, Args: s.Args, Env: s.Environ, Settings: o, Tools: &tools}, err
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.Codex().With(s.ToolKinds)
			return NewDecoder(Options{Tools: &tools})
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Command: r.Command, Args: r.Args, Environ: r.Env}
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
