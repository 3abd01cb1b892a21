package agent

import (
	"os"
	"path/filepath"
	"strings"
)

// Box is what an agent needs in a strict box (package policy/box), beside its workspace, its program with
// the package that it belongs to, the programs of PATH and the system. An agent gets a strict box by
// default only if its real program was tried with these lists.
//
// A path is absolute, or begins with ~/ for the home directory. ${NAME:-PATH} in it is the variable NAME of the
// agent's environment, or PATH where that is empty. Paths that are not there are left out. A path that ends
// in / is a directory that is made.
type Box struct {
	// Read and Write are files and directories with all in them.
	Read, Write []string
	// Files are empty files that are made where they are missing.
	Files []string
	// OwnSandbox says that the agent confines its commands by a sandbox that strict would break. Such an
	// agent gets a guard by default, in which its sandbox works.
	OwnSandbox bool
}

// Strict reports whether the agent gets a strict box by default, where several people use it.
func (b Box) Strict() bool { return len(b.Write) > 0 && !b.OwnSandbox }

// Places returns Read, Write and Files as absolute paths, for an environment of KEY=VALUE.
func (b Box) Places(environ []string) (read, write, files []string) {
	value := func(name string) (v string) {
		for _, kv := range environ {
			if k, text, _ := strings.Cut(kv, "="); k == name {
				v = text // the last one counts
			}
		}
		return v
	}
	find := func(paths []string) (found []string) {
		for _, path := range paths {
			path = os.Expand(path, func(name string) string {
				name, other, _ := strings.Cut(name, ":-")
				if v := value(name); v != "" {
					return v
				}
				return other
			})
			if below, in := strings.CutPrefix(path, "~/"); in && value("HOME") != "" {
				path = value("HOME") + "/" + below
			}
			if filepath.IsAbs(path) && path != "/" {
				found = append(found, path)
			}
		}
		return found
	}
	return find(b.Read), find(b.Write), find(b.Files)
}

// ClaudeBox is what Claude Code needs in a strict box: its state and its settings. It replaces .claude.json by a rename,
// which a box around the home directory refuses; then it writes into the file that is there.
func ClaudeBox() Box {
	return Box{Write: []string{"${CLAUDE_CONFIG_DIR:-~/.claude}/", "${CLAUDE_CONFIG_DIR:-~}/.claude.json"}}
}

// CodexBox is what Codex needs in a strict box. Its own sandbox, bubblewrap, cannot work there, and does more than the
// box: it closes the network to commands, and with read-only the workspace to writes.
func CodexBox() Box {
	return Box{Write: []string{"${CODEX_HOME:-~/.codex}/"}, OwnSandbox: true}
}

// OpenCodeBox is what OpenCode needs in a strict box: its state, and its settings to read. It does not start if it
// cannot write the file .gitignore beside them where there is none (1.18.33).
func OpenCodeBox() Box { return openCodeBox("opencode", "~/.opencode") }

func openCodeBox(name, read string) Box {
	return Box{
		Read:  []string{"${XDG_CONFIG_HOME:-~/.config}/" + name + "/", read},
		Files: []string{"${XDG_CONFIG_HOME:-~/.config}/" + name + "/.gitignore"},
		Write: []string{
			"${XDG_DATA_HOME:-~/.local/share}/" + name + "/", "${XDG_STATE_HOME:-~/.local/state}/" + name + "/", "${XDG_CACHE_HOME:-~/.cache}/" + name + "/",
		},
	}
}

// KiloBox is what Kilo Code, which is made from OpenCode, needs in a strict box. It tries a sandbox of its own, which cannot
// mount there.
func KiloBox() Box {
	b := openCodeBox("kilo", "~/.kilo")
	b.Write, b.OwnSandbox = append(b.Write, "${XDG_STATE_HOME:-~/.local/state}/kilo-sandbox-policy/"), true
	return b
}
