package realagent

import "slices"

// Kind is a real agent as tests run it: the package that it comes from, and the
// settings that close it off.
type Kind struct {
	// Name is the adapter, or the preset of an adapter, that drives the agent.
	Name    string
	Package Package
	// Everywhere marks the agents that every run of the tests needs. The installer leaves
	// out the others unless it is asked for them.
	Everywhere bool
	// Vars are the variables that the agent needs beside ClosedEnv.
	Vars func(Dirs) map[string]string
	// Files are configuration files, by their path below the home.
	Files func(Dirs) map[string]string
	// Options are further settings of the agent in the gateway's configuration.
	Options func(Dirs) map[string]any
}

// Dirs holds the places of a closed agent.
type Dirs struct {
	Home string // empty at first
	Tmp  string // for sockets: a short path
	Dir  string // the workspace
	URL  string // of the scripted model, without a slash at its end
}

// Kinds returns every agent, in the order of the tables in the docs.
func Kinds() []Kind {
	return []Kind{
		{
			Name: "claude", Everywhere: true, Vars: claudeEnv, Options: listsFreely,
			Package: Package{Name: "@anthropic-ai/claude-code", Version: "2.1.332", Command: "claude", Lock: "claude"},
		},
		{
			Name: "codex", Everywhere: true, Vars: codexEnv, Files: codexFiles, Options: codexOptions,
			Package: Package{Name: "@openai/codex", Version: "0.171.0", Command: "codex", Lock: "codex"},
		},
		{Name: "opencode", Vars: opencodeEnv, Options: readsFreely, Package: opencodePackage()},
		{Name: "opencode-acp", Vars: opencodeEnv, Package: opencodePackage()},
		{
			Name: "claude-acp", Vars: claudeEnv, Options: listsFreely,
			Package: Package{Name: "@agentclientprotocol/claude-agent-acp", Version: "0.101.0", Command: "claude-agent-acp", Lock: "claude-acp"},
		},
		{
			Name: "codex-acp", Vars: codexEnv, Files: codexFiles,
			Package: Package{Name: "@agentclientprotocol/codex-acp", Version: "2.6.0", Command: "codex-acp", Lock: "codex-acp"},
		},
		{
			Name: "gemini", Vars: geminiEnv, Files: geminiFiles,
			Package: Package{Name: "@google/gemini-cli", Version: "0.61.0", Command: "gemini", Lock: "gemini"},
		},
		{
			Name: "qwen", Vars: qwenEnv, Files: qwenFiles,
			Package: Package{Name: "@qwen-code/qwen-code", Version: "0.24.4", Command: "qwen", Lock: "qwen"},
		},
		{
			Name: "copilot", Vars: copilotEnv,
			Package: Package{Name: "@github/copilot", Version: "1.0.102", Command: "copilot", Lock: "copilot"},
		},
		{
			Name: "kimi", Vars: kimiEnv, Files: kimiFiles,
			Package: Package{Name: "@moonshot-ai/kimi-code", Version: "2.1.0", Command: "kimi", Lock: "kimi"},
		},
		{
			Name: "kilo", Vars: kiloEnv,
			Package: Package{Name: "@kilocode/cli", Version: "7.7.7", Command: "kilo", Lock: "kilo"},
		},
		{
			Name: "pi", Vars: piEnv, Files: piFiles,
			Package: Package{Name: "pi-acp", Version: "0.0.34", Command: "pi-acp", Lock: "pi"},
		},
		{
			Name: "goose", Vars: gooseEnv, Options: readsFreely,
			Package: Package{Name: "@aaif/goose-acp", Version: "1.50.0", Command: "goose", Lock: "goose"},
		},
		{
			Name: "cline", Vars: clineEnv, Files: clineFiles, Options: readsFreely,
			Package: Package{Name: "cline", Version: "3.0.65", Command: "cline", Lock: "cline"},
		},
		{
			Name: "mistral-vibe", Vars: vibeEnv, Files: vibeFiles,
			Package: Package{Name: "mistral-vibe", Version: "3.0.3", Command: "vibe-acp", Lock: "mistral-vibe", From: PyPI},
		},
		{Name: "openai", Options: openaiOptions}, // lives in the gateway
	}
}

func opencodePackage() Package {
	return Package{Name: "opencode-ai", Version: "1.18.33", Command: "opencode", Lock: "opencode"}
}

// KindOf returns the kind of that name.
func KindOf(name string) (Kind, bool) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}
