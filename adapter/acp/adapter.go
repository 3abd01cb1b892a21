package acp

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Adapter is the adapter of agents that speak the Agent Client Protocol.
func Adapter() agent.Adapter {
	var presets []agent.Preset
	for _, p := range Presets() {
		presets = append(presets, p.Preset)
	}
	return agent.Adapter{
		Name: "acp", Files: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"), Needs: "command", Presets: presets, Bypass: Bypass(),
		New: func(s agent.Settings) (agent.Runtime, error) {
			preset, _ := FindPreset(s.Preset) // a command line of the user's own has none
			if s.AllowBypass {
				preset.Meta, preset.Settings, preset.Files, preset.LooseTools = nil, nil, nil, nil
			}
			tools, _ := toolkind.For(s.Preset) // as above: the agent says of each tool what kind it is
			r := Runtime{Name: s.Name, Preset: preset, Command: s.Command, Args: s.Args, Env: s.Environ, Tools: tools.With(s.ToolKinds)}
			return r, r.Validate(s.Options)
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			preset, _ := FindPreset(s.Preset)
			tools, _ := toolkind.For(s.Preset)
			return NewDecoder(Options{Tools: tools.With(s.ToolKinds), Signs: preset.Signs})
		},
	}
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{Preset: r.Preset.Name, Command: r.Command, Args: r.Args, Environ: r.Env}
}

// SettingsFiles implements agent.SettingsReader.
func (r Runtime) SettingsFiles() []agent.SettingsFile {
	if r.Preset.Leave != "" && slices.Contains(r.Env, r.Preset.Leave) {
		return nil
	}
	return r.Preset.Settings
}

// WithoutSettings implements agent.SettingsReader.
func (r Runtime) WithoutSettings() agent.Runtime {
	if r.Preset.Leave == "" {
		return nil
	}
	r.Env = append(slices.Clone(r.Env), r.Preset.Leave)
	return r
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
