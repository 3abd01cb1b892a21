package opencode

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// kilo is the name of Kilo for people.
const kilo = "Kilo"

// Adapter is the adapter of OpenCode and Kilo.
func Adapter() agent.Adapter {
	const allows = `"permission"\s*:\s*(\{[^}]*)?"allow"` // rules of a sub-agent, which come before those of the gateway
	return agent.Adapter{
		Name: "opencode", Files: true, KeepsClosed: true, Keys: agent.ProcessKeys("url", "token_env", "model", "tool_kinds", "options"),
		Environ: []string{
			"OPENCODE_*", "KILO_*", "ANTHROPIC_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_*", "GOOGLE_*",
			"!OPENCODE_SERVER_PASSWORD", "!OPENCODE_SERVER_USERNAME", // of a server that runs already
		},
		Grants:  []agent.Grant{{Path: "~/.config/opencode/opencode.json", Pattern: allows}},
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
			r := Runtime{Unguarded: s.AllowBypass, Command: s.Command, Args: s.Args, Environ: s.Environ, URL: s.URL, Password: password, Settings: o, Tools: &tools}
			if s.Preset != "" {
				r.Name = kilo
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

// isKilo reports whether the program is Kilo, which has no switch that leaves all settings of the project out: with
// KILO_DISABLE_PROJECT_CONFIG=1 it starts the servers of .kilo/mcp.json (7.7.7).
func (r Runtime) isKilo() bool {
	return r.Name == kilo || strings.Contains(filepath.Base(r.command()), "kilo")
}

// SettingsFiles implements agent.SettingsReader.
func (r Runtime) SettingsFiles() []agent.SettingsFile {
	switch {
	case r.Unguarded || r.URL != "":
		return nil
	case r.isKilo():
		return agent.KiloSettings(true)
	case slices.Contains(r.Environ, agent.OpenCodeAlone):
		return nil
	}
	return agent.OpenCodeSettings(true)
}

// WithoutSettings implements agent.SettingsReader. OpenCode then also ignores the commands, skills and agents of the project.
func (r Runtime) WithoutSettings() agent.Runtime {
	if r.isKilo() {
		return nil
	}
	r.Environ = append(slices.Clone(r.Environ), agent.OpenCodeAlone)
	return r
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Environ = s.Environ
	return r
}
