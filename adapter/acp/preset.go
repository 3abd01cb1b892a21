package acp

import (
	"path/filepath"
	"slices"
	"strings"
)

// Preset is an agent that people use.
type Preset struct {
	Name, Title string
	Command     string
	Args        []string
	// Install is the command that installs the agent.
	Install string
	// Environ names the variables that the agent reads beside those of every process; *
	// stands for any ending.
	Environ []string
	// Login says how a person logs in.
	Login string
	// Keys are the methods of logging in for which a variable holds the key.
	Keys map[string]string
	// Bypass are arguments that make the agent act without asking, and LooseModes the
	// modes that do.
	Bypass, LooseModes []string
	// Mode is the mode in which sessions begin, if the agent's own would not ask.
	Mode string
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
			Name: "gemini", Title: "Gemini CLI", Command: "gemini", Args: []string{"--acp"}, Install: "npm install -g @google/gemini-cli", Environ: google,
			Login: "run `gemini` once in a terminal, or set GEMINI_API_KEY", Keys: map[string]string{"GEMINI_API_KEY": "gemini-api-key"},
			Bypass: []string{"--yolo", "-y", "--approval-mode"}, LooseModes: []string{"yolo"},
		},
		{
			Name: "claude-acp", Title: "Claude Agent", Command: "claude-agent-acp", Install: "npm install -g @agentclientprotocol/claude-agent-acp", Environ: anthropic,
			Login: "run `claude` once in a terminal, or set ANTHROPIC_API_KEY", Bypass: []string{"--dangerously-skip-permissions"}, LooseModes: []string{"bypassPermissions"},
		},
		{
			Name: "codex-acp", Title: "Codex", Command: "codex-acp", Install: "npm install -g @agentclientprotocol/codex-acp", Environ: openai,
			Login: "run `codex login` in a terminal, or set OPENAI_API_KEY", Keys: map[string]string{"OPENAI_API_KEY": "openai-api-key", "CODEX_API_KEY": "codex-api-key"},
			Bypass: []string{"--dangerously-bypass-approvals-and-sandbox", "--full-auto"}, LooseModes: []string{"full-access", "agent-full-access"}, Mode: "read-only",
		},
		{
			Name: "opencode-acp", Title: "OpenCode", Command: "opencode", Args: []string{"acp"}, Install: "npm install -g opencode-ai", Environ: with("OPENCODE_*"),
			Login: "run `opencode auth login` in a terminal",
		},
		{
			Name: "qwen", Title: "Qwen Code", Command: "qwen", Args: []string{"--acp"}, Install: "npm install -g @qwen-code/qwen-code",
			Environ: []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_API_KEY"}, Login: "run `qwen` once in a terminal, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
			Keys: map[string]string{"OPENAI_API_KEY": "openai"}, Bypass: []string{"--yolo", "-y", "--approval-mode"}, LooseModes: []string{"yolo"}, Mode: "default",
		},
		{
			Name: "copilot", Title: "GitHub Copilot", Command: "copilot", Args: []string{"--acp"}, Install: "npm install -g @github/copilot",
			Environ: []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"}, Login: "run `copilot` and /login in a terminal, or set COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL",
			Bypass: []string{"--allow-all-tools", "--allow-all", "--allow-all-paths", "--yolo", "--allow-tool"},
		},
		{
			Name: "kimi", Title: "Kimi", Command: "kimi", Args: []string{"acp"}, Install: "npm install -g @moonshot-ai/kimi-code", Environ: []string{"KIMI_*", "MOONSHOT_API_KEY"},
			Login: "run `kimi` and /login in a terminal", Bypass: []string{"--yolo", "-y", "--yes", "--auto-approve"}, LooseModes: []string{"yolo"},
		},
		{
			Name: "kilo", Title: "Kilo Code", Command: "kilo", Args: []string{"acp"}, Install: "npm install -g @kilocode/cli", Environ: with("KILO_*", "KILOCODE_*", "OPENCODE_*"),
			Login: "run `kilo auth login` in a terminal", Bypass: []string{"--auto", "--yolo"},
		},
		{
			Name: "goose", Title: "Goose", Command: "goose", Args: []string{"acp"}, Install: "brew install block-goose-cli", Environ: with("GOOSE_*", "OPENAI_HOST", "OPENAI_BASE_PATH"),
			Login: "run `goose configure` in a terminal", LooseModes: []string{"auto"}, Mode: "approve",
		},
		{
			Name: "cline", Title: "Cline", Command: "cline", Args: []string{"--acp"}, Install: "npm install -g cline", Environ: with("CLINE_*"),
			Login: "run `cline auth` in a terminal", Bypass: []string{"--yolo", "-y", "--auto-approve-all"},
		},
		{
			Name: "cursor", Title: "Cursor", Command: "cursor-agent", Args: []string{"acp"}, Install: "curl https://cursor.com/install -fsS | bash", Environ: []string{"CURSOR_*"},
			Login: "run `cursor-agent login` in a terminal, or set CURSOR_API_KEY", Bypass: []string{"--force", "-f", "--yolo"},
		},
		{
			Name: "pi", Title: "Pi", Command: "pi-acp", Install: "npm install -g pi-acp @earendil-works/pi-coding-agent", Environ: with("PI_*"),
			Login: "run `pi` once in a terminal, or set the key of its provider",
		},
		{
			Name: "mistral-vibe", Title: "Mistral Vibe", Command: "vibe-acp", Install: "uv tool install mistral-vibe", Environ: []string{"MISTRAL_*", "VIBE_*"},
			Login: "run `vibe --setup` in a terminal, or set MISTRAL_API_KEY", Bypass: []string{"--auto-approve"}, LooseModes: []string{"auto-approve"},
		},
	}
}

// FindPreset returns the preset with a name.
func FindPreset(name string) (Preset, bool) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return Preset{}, false
}

// argsOf are the preset's arguments for a program of another place with the same name.
func (p Preset) argsOf(command string) []string {
	if p.Command != "" && filepath.Base(command) == filepath.Base(p.Command) {
		return p.Args
	}
	return nil
}

// bypass returns the argument that makes the agent act without asking, or "".
func (p Preset) bypass(args []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(p.Bypass, name) || strings.Contains(name, "dangerously") {
			return name
		}
	}
	return ""
}
