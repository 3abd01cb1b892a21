package acp

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
)

// Preset is an agent that people use.
type Preset struct {
	agent.Preset
	// Title is the name for people.
	Title string
	// Login says how a person logs in.
	Login string
	// Keys are the methods of logging in for which a variable holds the key.
	Keys map[string]string
	// LooseModes are the modes in which the agent acts without asking.
	LooseModes []string
	// LooseCommands are the agent's own commands that can switch its permission requests
	// off, or widen what it may do. A prompt that is one of them is refused.
	LooseCommands []string
	// LooseTools are tools that begin a sub-agent which asks nobody. A request for one is refused.
	LooseTools []string
	// Mode is the mode in which sessions begin, if the agent's own would not ask.
	Mode string
	// MissingIsEmpty answers that a file that does not exist is empty. The agent does not
	// understand the protocol's error, and so could not make a file.
	MissingIsEmpty bool
	// ReplaysLate says that the past of a session that is opened again comes behind the
	// reply, and not before it.
	ReplaysLate bool
	// EndsEarly says that words of a turn may come behind the reply that ends it.
	EndsEarly bool
	// Signs show a failure that the agent reports as success.
	Signs Signs
	// Meta is the `_meta` of each request that opens a session. Files of the user and of the
	// workspace do not change the agent's settings in it.
	Meta object
	// Settings are the files of the workspace that the agent obeys, and Leave is the variable, as KEY=VALUE, by which it leaves them
	// out; "" if there is none.
	Settings []agent.SettingsFile
	Leave    string
	// Set are variables of the agent's environment, unless the environment has them.
	Set map[string]string
	// Files are variables of it that name files, by the text of the file, with the same condition.
	Files map[string]string
}

// Presets returns the agents that people use. Any other agent runs by its command line.
func Presets() []Preset {
	anthropic := []string{"ANTHROPIC_*", "CLAUDE_*", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "AWS_*", "CLOUD_ML_REGION"}
	google := []string{"GEMINI_*", "GOOGLE_*", "NO_BROWSER"}
	openai := []string{"OPENAI_*", "CODEX_*"}
	many := []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_*", "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "AWS_*"}
	with := func(own ...string) []string { return append(own, many...) }
	return []Preset{
		{
			Preset: agent.Preset{Name: "gemini", Command: "gemini", Args: []string{"--acp"}, Install: "npm install -g @google/gemini-cli", Environ: google, Box: agent.Box{Write: []string{"${GEMINI_CLI_HOME:-~}/.gemini/"}}},
			Title:  "Gemini CLI", Login: "run `gemini` once in a terminal, or set GEMINI_API_KEY",
			Keys: map[string]string{"GEMINI_API_KEY": "gemini-api-key"}, LooseModes: []string{"yolo"}, MissingIsEmpty: true,
			ReplaysLate: true, Signs: Signs{Uncounted: true},
			Settings:      append(files(".gemini/settings.json", ".gemini/policies/**/*", ".gemini/agents/**/*"), variables(".env", ".gemini/.env")...),
			LooseCommands: []string{"extensions"},
		},
		{
			Preset: agent.Preset{Name: "claude-acp", Command: "claude-agent-acp", Install: "npm install -g @agentclientprotocol/claude-agent-acp", Environ: anthropic, Box: agent.ClaudeBox()},
			Title:  "Claude Agent", Login: "run `claude` once in a terminal, or set ANTHROPIC_API_KEY",
			LooseModes: []string{"auto", "bypassPermissions"}, Mode: "default", LooseCommands: []string{"config", "settings"}, // since 0.101.0 sessions would begin in auto
			Meta: object{"claudeCode": object{"options": asksAlways()}}, Settings: agent.ClaudeSettings(false),
		},
		{
			Preset: agent.Preset{Name: "codex-acp", Command: "codex-acp", Install: "npm install -g @agentclientprotocol/codex-acp", Environ: openai, Box: agent.CodexBox()},
			Title:  "Codex", Login: "run `codex login` in a terminal, or set OPENAI_API_KEY",
			Keys: map[string]string{"OPENAI_API_KEY": "api-key", "CODEX_API_KEY": "api-key"}, LooseModes: []string{"agent-full-access"}, Mode: "read-only",
			Settings: files(".codex/config.toml", ".codex/hooks.json", ".codex/rules/**/*", ".codex/agents/**/*"),
			Set:      map[string]string{"CODEX_CONFIG": `{"notify":[]}`}, // nobody is asked about the program that it names
		},
		{
			Preset: agent.Preset{Name: "opencode-acp", Command: "opencode", Args: []string{"acp"}, Install: "npm install -g opencode-ai", Environ: with("OPENCODE_*"), Box: agent.OpenCodeBox()},
			Title:  "OpenCode", Login: "run `opencode auth login` in a terminal", EndsEarly: true,
			Settings: agent.OpenCodeSettings(false), Leave: agent.OpenCodeAlone,
		},
		{
			Preset: agent.Preset{Name: "qwen", Command: "qwen", Args: []string{"--acp"}, Install: "npm install -g @qwen-code/qwen-code", Environ: []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_API_KEY"}, Box: agent.Box{Write: []string{"${QWEN_HOME:-~/.qwen}/"}}},
			Title:  "Qwen Code", Login: "run `qwen` once in a terminal, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
			Keys: map[string]string{"OPENAI_API_KEY": "openai"}, LooseModes: []string{"yolo"}, Mode: "default",
			Settings: append(files(".qwen/settings.json", ".qwen/agents/**/*", ".qwen/commands/**/*", ".qwen/skills/**/*", ".qwen/hooks/**/*", ".qwen/workflows/**/*", ".mcp.json", ".lsp.json"), variables(".env", ".qwen/.env")...),
			// Else it runs commands unasked that it takes for reading: git with the programs of a repository's configuration, cat of any file.
			Files: map[string]string{"QWEN_CODE_SYSTEM_DEFAULTS_PATH": `{"permissions":{"ask":["run_shell_command"]}}`},
		},
		{
			Preset: agent.Preset{Name: "copilot", Command: "copilot", Args: []string{"--acp"}, Install: "npm install -g @github/copilot", Environ: []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"}, Box: agent.Box{Write: []string{"${COPILOT_HOME:-~/.copilot}/", "${COPILOT_CACHE_HOME:-~/.cache/copilot}/"}}},
			Title:  "GitHub Copilot", Login: "run `copilot` and /login in a terminal, or set COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL",
			LooseModes:    []string{"https://agentclientprotocol.com/protocol/session-modes#autopilot"},
			LooseCommands: []string{"allow-all", "yolo", "permissions", "autopilot", "add-dir", "cwd", "cd", "mcp", "plugin", "extensions", "sandbox", "config", "settings", "remote", "share"},
			Signs:         Signs{Error: "Error: "},
			Settings: files(".github/hooks/**/*", ".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json",
				".mcp.json", ".github/mcp.json", ".github/lsp.json", ".github/agents/**/*", ".github/extensions/**/*"),
		},
		{
			Preset: agent.Preset{Name: "kimi", Command: "kimi", Args: []string{"acp"}, Install: "npm install -g @moonshot-ai/kimi-code", Environ: []string{"KIMI_*", "MOONSHOT_API_KEY"}, Box: agent.Box{Write: []string{"${KIMI_CODE_HOME:-~/.kimi-code}/"}}},
			Title:  "Kimi", Login: "run `kimi` and /login in a terminal",
			LooseModes: []string{"yolo"}, Signs: Signs{Silence: true},
			Settings: files(".mcp.json", ".kimi-code/mcp.json", ".kimi-code/local.toml"),
		},
		{
			Preset: agent.Preset{Name: "kilo", Command: "kilo", Args: []string{"acp"}, Install: "npm install -g @kilocode/cli", Environ: with("KILO_*", "KILOCODE_*", "OPENCODE_*"), Box: agent.KiloBox()},
			Title:  "Kilo Code", Login: "run `kilo auth login` in a terminal", EndsEarly: true, Settings: agent.KiloSettings(false),
		},
		{
			Preset: agent.Preset{Name: "goose", Command: "goose", Args: []string{"acp"}, Install: "npm install -g @aaif/goose-acp", Environ: with("GOOSE_*", "OPENAI_HOST", "OPENAI_BASE_PATH"), Box: agent.Box{Write: []string{"${XDG_CONFIG_HOME:-~/.config}/goose/", "${XDG_DATA_HOME:-~/.local/share}/goose/", "${XDG_STATE_HOME:-~/.local/state}/goose/"}}},
			Title:  "Goose", Login: "run `goose configure` in a terminal, or set GOOSE_PROVIDER, GOOSE_MODEL and the key of the provider",
			LooseModes: []string{"auto"}, Mode: "approve", LooseCommands: []string{"mode", "builtin", "extension"}, LooseTools: []string{"delegate"}, Signs: Signs{Error: "Ran into this error: "},
			Settings: files(".agents/plugins/**/*", ".agents/recipes/**/*", ".goose/recipes/**/*", ".agents/agents/**/*", ".goose/agents/**/*", ".claude/agents/**/*"),
		},
		{
			Preset: agent.Preset{Name: "cline", Command: "cline", Args: []string{"--acp"}, Install: "npm install -g cline", Environ: with("CLINE_*"), Box: agent.Box{Write: []string{"${CLINE_DIR:-~/.cline}/"}}},
			Title:  "Cline", Login: "run `cline auth` in a terminal, or set CLINE_API_KEY and CLINE_PROVIDER",
			LooseCommands: []string{"yolo", "tools", "cwd"},
			// Its program, Bun, loads bunfig.toml and the files of variables.
			Settings: append(files("bunfig.toml", ".clinerules/hooks/**/*", ".cline/hooks/**/*", ".cline/plugins/**/*", ".cline/cron/**/*", ".cline/tasks/**/*"), variables(".env", ".env.local", ".env.development", ".env.development.local", ".env.production", ".env.production.local", ".env.test", ".env.test.local")...),
			Set:      map[string]string{"CLINE_SESSION_BACKEND_MODE": "local"}, // else a server stays behind, and errors get lost
		},
		{
			Preset: agent.Preset{Name: "cursor", Command: "cursor-agent", Args: []string{"acp"}, Install: "curl https://cursor.com/install -fsS | bash", Environ: []string{"CURSOR_*"}},
			Title:  "Cursor", Login: "run `cursor-agent login` in a terminal, or set CURSOR_API_KEY",
			Settings: files(".cursor/cli.json", ".cursor/mcp.json", ".cursor/hooks.json", ".claude/settings.json", ".claude/settings.local.json"),
		},
		{
			Preset: agent.Preset{Name: "pi", Command: "pi-acp", Install: "npm install -g pi-acp @earendil-works/pi-coding-agent", Environ: with("PI_*"), AsksNobody: true, Box: agent.Box{Write: []string{"${PI_CODING_AGENT_DIR:-~/.pi/agent}/", "~/.pi/"}}},
			Title:  "Pi", Login: "run `pi` once in a terminal, or set the key of its provider",
			Signs: Signs{Silence: true}, EndsEarly: true,
		},
		{
			Preset: agent.Preset{Name: "mistral-vibe", Command: "vibe-acp", Install: "uv tool install mistral-vibe", Environ: []string{"MISTRAL_*", "VIBE_*"}, Box: agent.Box{Write: []string{"${VIBE_HOME:-~/.vibe}/"}}},
			Title:  "Mistral Vibe", Login: "run `vibe --setup` in a terminal, or set MISTRAL_API_KEY",
			LooseModes: []string{"auto-approve"}, Mode: "ask",
			LooseCommands: []string{"mcp", "reload", "proxy-setup", "leanstall", "unleanstall", "teleport"},
			Settings:      files(".vibe/config.toml", ".vibe/hooks.toml", ".vibe/tools/**/*", ".vibe/agents/**/*", ".vibe/plugins/**/*"),
			Set:           map[string]string{"VIBE_BYPASS_TOOL_PERMISSIONS": "false"}, // the user's own configuration may say true
		},
	}
}

// files are settings files that always count.
func files(paths ...string) (all []agent.SettingsFile) {
	for _, path := range paths {
		all = append(all, agent.SettingsFile{Path: path})
	}
	return all
}

// variables are files of variables that the agent takes into its environment.
func variables(paths ...string) (all []agent.SettingsFile) {
	for _, path := range paths {
		all = append(all, agent.SettingsFile{Path: path, Variables: true})
	}
	return all
}

// FindPreset returns the preset with a name.
func FindPreset(name string) (Preset, bool) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return Preset{}, false
}

// asksAlways are options of Claude Agent by which it asks before each call, whatever rules,
// skills, sub-agents and modes allow. It cannot ask about shell lines in the files of commands
// and skills, so it leaves them out; and hooks of settings files could answer its requests, so
// they do not run.
func asksAlways() object {
	return object{
		"allowDangerouslySkipPermissions": false,
		"settings":                        object{"permissions": object{"ask": []string{"*"}}, "disableSkillShellExecution": true},
		"managedSettings":                 object{"allowManagedHooksOnly": true},
	}
}

// Bypass are arguments by which these agents act without asking, beside those that the
// program knows of all agents.
func Bypass() []agent.Bypass {
	var all []agent.Bypass
	for program, flags := range map[string][]string{
		"copilot": {"--allow-all-paths"}, "kimi": {"-y", "--yes", "--auto-approve"}, "kilo": {"--auto"}, "cline": {"-y", "--auto-approve-all", "--auto-approve"},
		"cursor-agent": {"--force", "-f"}, "vibe-acp": {"--auto-approve"},
	} {
		for _, flag := range flags {
			all = append(all, agent.Bypass{Flag: flag, Of: []string{program}})
		}
	}
	return all
}
