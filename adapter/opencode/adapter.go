package opencode

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of OpenCode and Kilo.
func Adapter() agent.Adapter {
	const allows = `"permission"\s*:\s*(\{[^}]*)?"allow"` // rules of a sub-agent, which come before those of the gateway
	return agent.Adapter{
		Name: "opencode", Files: true, KeepsClosed: true, Keys: agent.ProcessKeys("url", "token_env", "model", "tool_kinds", "options"),
		Environ: []string{
			"OPENCODE_*", "KILO_*", "ANTHROPIC_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_*", "GOOGLE_*",
			"!OPENCODE_SERVER_PASSWORD", "!OPENCODE_SERVER_USERNAME", // of a server that runs already
		},
		Grants:  []agent.Grant{{Path: "~/.config/opencode/opencode.json", Pattern: allows}, {Path: "opencode.json", Pattern: allows}},
		Box:     agent.OpenCodeBox(),
		Presets: []agent.Preset{{Name: "kilo-serve", Command: "kilo", Install: "npm install -g @kilocode/cli"}},
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o Settings
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			password, err := s.Token()
			if err == nil && s.URL == "" && o.Directory != "" {
				err = agent.WrongSetting("options.directory", "means something only with url: set cwd instead")
			}
			tools := toolkind.OpenCode().With(s.ToolKinds)
			r := Runtime{Command: s.Command, Args: s.Args, Environ: s.Environ, URL: s.URL, Password: password, Settings: o, Tools: &tools}
			if s.Preset != "" {
				r.Name = "Kilo"
			}
			return r, err
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return NewDecoder(Options{Tools: &tools})
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Command: r.Command, Args: r.Args, Environ: r.Environ, URL: r.URL}
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Environ = s.Environ
	return r
}
