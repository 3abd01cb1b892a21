package cli

import (
	"os"
	"time"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/adapter/codex"
	commandline "github.com/tributary-dev/tributary/adapter/command"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// builtIn is the one map of adapters, in the order of their names.
func builtIn() catalog {
	return catalog{
		acpAdapter(), agentopsAdapter(), agui.Adapter(), claudeAdapter(), codexAdapter(), commandAdapter(), demoAdapter(), echoAdapter(),
		langgraph.Adapter(), langgraph.BackendAdapter(), openai.Adapter("openai"), opencodeAdapter(), openharness.Adapter(), runnerAdapter(),
		uiendpoint.Adapter(),
	}
}

func acpAdapter() agent.Adapter {
	var presets []agent.Preset
	for _, p := range acp.Presets() {
		presets = append(presets, p.Preset)
	}
	return agent.Adapter{
		Name: "acp", Files: true, Remembers: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"), Needs: "command", Presets: presets, Bypass: acp.Bypass(),
		New: func(s agent.Settings) (agent.Runtime, error) {
			preset, _ := acp.FindPreset(s.Preset) // a command line of the user's own has none
			tools, _ := toolkind.For(s.Preset)    // as above: the agent says of each tool what kind it is
			r := acp.Runtime{Name: s.Name, Preset: preset, Command: s.Command, Args: s.Args, Env: s.Environ, Tools: tools.With(s.ToolKinds)}
			return r, r.Validate(s.Options)
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			preset, _ := acp.FindPreset(s.Preset)
			tools, _ := toolkind.For(s.Preset)
			return acp.NewDecoder(acp.Options{Tools: tools.With(s.ToolKinds), Signs: preset.Signs})
		},
	}
}

func claudeAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "claude", Files: true, KeepsClosed: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"),
		Environ: []string{
			"ANTHROPIC_*", "CLAUDE_*", "MCP_*", "BASH_*", "DISABLE_*", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "API_TIMEOUT_MS",
			"!CLAUDE_CODE_ENTRYPOINT", "!CLAUDE_CODE_SSE_PORT", // marks of a Claude Code that this program itself runs in
		},
		Grants: claudeSettings(`"PermissionRequest"\s*:\s*\[\s*\{`), // a hook that answers in place of the gateway
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o struct {
				// Script is what the command runs, if the command is an interpreter.
				Script []string `json:"script"`
			}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			tools := toolkind.Claude().With(s.ToolKinds)
			return claude.Runtime{Command: s.Command, Script: o.Script, Args: s.Args, Env: s.Environ, Tools: &tools, Unguarded: s.AllowBypass}, nil
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.Claude().With(s.ToolKinds)
			return claude.NewDecoder(claude.Options{Tools: &tools})
		},
	}
}

// claudeSettings are the settings files of Claude Code.
func claudeSettings(pattern string) (all []agent.Grant) {
	for _, path := range []string{"~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		all = append(all, agent.Grant{Path: path, Pattern: pattern})
	}
	return all
}

func commandAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "command", Files: true, Needs: "command", Keys: agent.ProcessKeys(),
		Presets: []agent.Preset{{
			Name: "claude-text", Command: "claude", Args: []string{"-p"}, Install: "npm install -g @anthropic-ai/claude-code",
			Environ: claudeAdapter().Environ, Grants: claudeSettings(`"allow"\s*:\s*\[\s*"|"defaultMode"\s*:\s*"(acceptEdits|bypassPermissions|dontAsk|auto)"`),
		}},
		New: func(s agent.Settings) (agent.Runtime, error) {
			r := commandline.Runtime{Command: s.Command, Args: s.Args, Env: s.Environ}
			if s.Preset == "claude-text" {
				r.Refused = claude.LooseCommands()
			}
			return r, nil
		},
	}
}

func codexAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "codex", Files: true, Remembers: true, Keys: agent.ProcessKeys("model", "tool_kinds", "options"),
		Environ: []string{"CODEX_*", "OPENAI_*", "!CODEX_SANDBOX", "!CODEX_SANDBOX_NETWORK_DISABLED", "!CODEX_THREAD_ID"}, // marks of a Codex that this program itself runs in
		Grants:  []agent.Grant{{Path: "~/.codex/rules/default.rules", Pattern: `decision\s*=\s*"allow"`}, {Path: ".codex/rules/default.rules", Pattern: `decision\s*=\s*"allow"`}},
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o codex.Settings
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			o, err := o.Filled()
			tools := toolkind.Codex().With(s.ToolKinds)
			return codex.Runtime{Command: s.Command, Args: s.Args, Env: s.Environ, Settings: o, Tools: &tools}, err
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.Codex().With(s.ToolKinds)
			return codex.NewDecoder(codex.Options{Tools: &tools})
		},
	}
}

func opencodeAdapter() agent.Adapter {
	const allows = `"permission"\s*:\s*(\{[^}]*)?"allow"` // rules of a sub-agent, which come before those of the gateway
	return agent.Adapter{
		Name: "opencode", Files: true, KeepsClosed: true, Remembers: true, Keys: agent.ProcessKeys("url", "token_env", "model", "tool_kinds", "options"),
		Environ: []string{
			"OPENCODE_*", "KILO_*", "ANTHROPIC_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_*", "GOOGLE_*",
			"!OPENCODE_SERVER_PASSWORD", "!OPENCODE_SERVER_USERNAME", // of a server that runs already
		},
		Grants:  []agent.Grant{{Path: "~/.config/opencode/opencode.json", Pattern: allows}, {Path: "opencode.json", Pattern: allows}},
		Presets: []agent.Preset{{Name: "kilo-serve", Command: "kilo", Install: "npm install -g @kilocode/cli"}},
		New: func(s agent.Settings) (agent.Runtime, error) {
			var o opencode.Settings
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			switch {
			case s.TokenEnv != "" && os.Getenv(s.TokenEnv) == "":
				return nil, agent.WrongSetting("token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
			case s.URL == "" && o.Directory != "":
				return nil, agent.WrongSetting("options.directory", "means something only with url: set cwd instead")
			}
			tools := toolkind.OpenCode().With(s.ToolKinds)
			r := opencode.Runtime{Command: s.Command, Args: s.Args, Environ: s.Environ, URL: s.URL, Password: os.Getenv(s.TokenEnv), Settings: o, Tools: &tools}
			if s.Preset != "" {
				r.Name = "Kilo"
			}
			return r, nil
		},
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return opencode.NewDecoder(opencode.Options{Tools: &tools})
		},
	}
}

func demoAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "demo", Files: true, Keys: []string{"options"}, InProcess: true, Harmless: true,
		New: func(s agent.Settings) (agent.Runtime, error) {
			o := struct {
				Pace agent.Duration `json:"pace"`
			}{agent.Duration(demo.DefaultPace)}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			return demo.Runtime{Pace: time.Duration(o.Pace)}, nil
		},
	}
}

func echoAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "echo", InProcess: true, Harmless: true,
		New: func(agent.Settings) (agent.Runtime, error) { return echo.Runtime{}, nil },
	}
}

func agentopsAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "agentops", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "token_file", "model", "tool_kinds", "options"},
		New:  newAgentops,
		Decoder: func(s agent.Settings) agent.Decoder {
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return agentops.NewDecoder(agentops.Options{Tools: &tools})
		},
	}
}

func newAgentops(s agent.Settings) (agent.Runtime, error) {
	var o struct {
		// Lookup names the property by which the server knows the gateway's users: user_id,
		// email, or off.
		Lookup string `json:"lookup"`
		// Socket says how long a connection lasts: shared, or request (one turn).
		Socket         string         `json:"socket"`
		Strict         bool           `json:"strict"`
		ConnectTimeout agent.Duration `json:"connect_timeout"`
		WakeLimit      agent.Duration `json:"wake_limit"`
		MaxFrame       config.Size    `json:"max_frame"`
	}
	if err := agent.DecodeOptions(s.Options, &o); err != nil {
		return nil, err
	}
	switch {
	case s.TokenEnv != "" && os.Getenv(s.TokenEnv) == "":
		return nil, agent.WrongSetting("token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
	case o.Lookup != "" && o.Lookup != "user_id" && o.Lookup != "email" && o.Lookup != "off":
		return nil, agent.WrongSetting("options.lookup", "is %q: write user_id, email or off", o.Lookup)
	case o.Socket != "" && o.Socket != "shared" && o.Socket != "request":
		return nil, agent.WrongSetting("options.socket", "is %q: write shared or request", o.Socket)
	case o.MaxFrame == config.None:
		return nil, agent.WrongSetting("options.max_frame", "is none: write a size such as 64MB, for a frame is held in memory")
	}
	tools := toolkind.OpenCode().With(s.ToolKinds)
	r := agentops.Runtime{
		URL: s.URL, Token: agentops.Credential{Env: s.TokenEnv, File: s.TokenFile}, PerTurn: o.Socket == "request", Strict: o.Strict,
		ConnectTime: time.Duration(o.ConnectTimeout), WakeTime: time.Duration(o.WakeLimit), MaxFrame: int64(o.MaxFrame), Tools: &tools,
	}
	service := r.Token != (agentops.Credential{})
	switch {
	case !service && o.Lookup != "" && o.Lookup != "off":
		return nil, agent.WrongSetting("options.lookup", "means something only with a service token: set token_env or token_file, or remove it")
	case !service, o.Lookup == "off":
		return r, nil
	case o.Lookup == "email":
		return agentops.Roster{Runtime: r, By: agentops.UserEmail}, nil
	}
	return agentops.Roster{Runtime: r}, nil
}

// leastRunnerToken is the least length of a token for runners. A short token can be guessed.
const leastRunnerToken = 16

func runnerAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "runner", Keys: []string{"token_env", "model", "tool_kinds"}, InProcess: true, Harmless: true,
		New: func(s agent.Settings) (agent.Runtime, error) {
			token := os.Getenv(s.TokenEnv)
			if s.TokenEnv != "" && len(token) < leastRunnerToken {
				return nil, agent.WrongSetting("token_env", "names %s, which is to hold a token of at least %d characters and does not", s.TokenEnv, leastRunnerToken)
			}
			tools := toolkind.OpenCode().With(s.ToolKinds)
			return runner.New(runner.Options{Token: token, Tools: &tools}), nil
		},
		Decoder: func(s agent.Settings) agent.Decoder { return runner.NewDecoder(toolkind.OpenCode().With(s.ToolKinds)) },
	}
}
