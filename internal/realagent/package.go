package realagent

// Package is an agent as npm knows it, at one exact version.
type Package struct {
	Name    string // of the npm package
	Version string // exact
	Command string // what the package puts into node_modules/.bin
}

// String returns NAME@VERSION.
func (p Package) String() string { return p.Name + "@" + p.Version }

// ClaudeCode returns the pinned Claude Code.
func ClaudeCode() Package {
	return Package{Name: "@anthropic-ai/claude-code", Version: "2.1.329", Command: "claude"}
}

// Pinned returns all agents that tests run.
func Pinned() []Package { return []Package{ClaudeCode()} }
