package agentset

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
)

// bypasses are the arguments and variables that make known agents act without a
// permission request. Any adapter may run any of these agents, so they count for all.
func bypasses() []agent.Bypass {
	always := func(flag string, values ...string) agent.Bypass { return agent.Bypass{Flag: flag, Values: values} }
	return []agent.Bypass{
		// Claude Code
		always("--dangerously-skip-permissions"), always("--allow-dangerously-skip-permissions"),
		always("--permission-mode", "bypassPermissions", "acceptEdits", "dontAsk", "auto"),
		always("--settings"), always("--plugin-dir"), always("--agents", "*permissionmode*bypasspermissions*", "*permissionmode*acceptedits*", "*permissionmode*dontask*"), always("--allowedTools"), always("--allowed-tools"), always("--permission-prompt-tool"),
		// Codex
		always("--dangerously-bypass-approvals-and-sandbox"), always("--full-auto"),
		always("--ask-for-approval", "never"), always("--sandbox", "danger-full-access"),
		always("-c", "*approval_policy=never", "*sandbox_mode=danger-full-access"), always("--config", "*approval_policy=never", "*sandbox_mode=danger-full-access"),
		{Flag: "-a", Values: []string{"never"}, Of: []string{"codex"}},
		{Flag: "-s", Values: []string{"danger-full-access"}, Of: []string{"codex"}},
		// Gemini, Qwen and their like
		always("--yolo"), always("--approval-mode", "yolo", "auto_edit", "auto-edit", "autoedit"), always("--approvalMode", "yolo", "auto_edit", "auto-edit", "autoedit"),
		{Flag: "-y", Of: []string{"gemini", "qwen"}},
		{Flag: "--policy", Of: []string{"gemini"}},
		{Flag: "--admin-policy", Of: []string{"gemini"}},
		// Copilot
		always("--allow-all-tools"), always("--allow-all"), always("--allow-tool"), always("--allow-url"), always("--allow-all-urls"), always("--autopilot"), always("--assisted-approval"),
		{Flag: "--mode", Values: []string{"autopilot"}, Of: []string{"copilot"}},
		{Variable: "COPILOT_ALLOW_ALL", Values: []string{"true", "1", "yes", "on", "y"}},
		{Variable: "COPILOT_ASSISTED_APPROVAL"},
		// OpenCode and Kilo. Their JSON may write each letter as \u and its number.
		{Variable: "OPENCODE_PERMISSION", Values: []string{"*allow*", `*\u00*`}},
		{Variable: "OPENCODE_CONFIG_CONTENT", Values: []string{"*permission*allow*", `*\u00*`}},
		{Variable: "OPENCODE_TEST_MANAGED_CONFIG_DIR"},
		{Variable: "KILO_PERMISSION", Values: []string{"*allow*", `*\u00*`}},
		{Variable: "KILO_CONFIG_CONTENT", Values: []string{"*permission*allow*", `*\u00*`}},
		{Variable: "KILO_TEST_MANAGED_CONFIG_DIR"},
		// Goose
		{Variable: "GOOSE_MODE", Values: []string{"auto"}},
		// Vibe, which reads the names of its variables in any letter case
		{Variable: "VIBE_BYPASS_TOOL_PERMISSIONS", Values: []string{"true", "1", "yes", "on", "y", "t"}},
		{Variable: "VIBE_TOOLS"},
	}
}

// bypass finds the first argument or variable of an agent's process that switches its
// permission requests off, as it was written; "" if there is none.
func bypass(known []agent.Bypass, command string, args, env []string) string {
	for _, b := range known {
		if b.Variable != "" {
			for _, kv := range env {
				if name, value, _ := strings.Cut(kv, "="); strings.EqualFold(name, b.Variable) && b.Counts(value) {
					return name
				}
			}
			continue
		}
		for i, arg := range args {
			if b.Of != nil && !slices.ContainsFunc(append([]string{command}, args[:i]...), func(word string) bool { return names(b.Of, word) }) {
				continue
			}
			flag, value, joined := strings.Cut(arg, "=")
			short, tied := strings.CutPrefix(arg, b.Flag)
			switch {
			case tied && short != "" && len(b.Flag) == len("-x") && b.Values != nil && b.Counts(strings.TrimPrefix(short, "=")): // such as -cKEY=VALUE
				return arg
			case flag != b.Flag:
			case b.Values == nil, joined && b.Counts(value):
				return arg
			case !joined && i+1 < len(args) && b.Counts(args[i+1]):
				return arg + " " + args[i+1]
			}
		}
	}
	return ""
}

// names reports whether a word, such as a path or a package, names one of these programs.
func names(programs []string, word string) bool {
	base := strings.ToLower(filepath.Base(word))
	return slices.ContainsFunc(programs, func(p string) bool { return strings.HasPrefix(base, p) })
}
