package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Scope is what a policy knows of the agent whose calls it judges.
type Scope struct {
	// Contains reports whether a path is in the workspace, and may read the file
	// system. Without it no path is in the workspace.
	Contains func(path string) bool
	// Resolve returns a path of the workspace, relative to it and without symlinks,
	// and may read the file system. Without it no rule with paths allows anything.
	Resolve func(path string) (string, error)
	// Closed reports whether a path leads to what no agent may touch. Holds reports
	// whether a directory has such a thing in it, at any depth. Both may read the file
	// system. Without them nothing is closed.
	Closed, Holds func(path string) bool
	// Boxed says that the kernel opens only the workspace, and the agent's own state, to the agent's commands.
	Boxed bool
	// Tools says what the strings of an input mean. Of a tool that the table does
	// not know, nearly every string counts as a path.
	Tools toolkind.Table
	// Script is how far the session is in the policy's script; nil: at its beginning,
	// always.
	Script *Script
}

// mostPaths bounds the paths and patterns that are looked at for one call; see mostWords for commands.
const mostPaths = 64

// inside reports whether a call is confined to the workspace: a call on files by proof, and a command by the
// box around it. A tool that the table does not know may be a server's, which runs commands elsewhere.
func (s Scope) inside(c trace.ToolCall) bool {
	return s.proven(c) || s.Boxed && c.ToolKind == trace.ToolExecute && s.Tools.Knows(c.RawName)
}

// proven reports whether a call provably touches nothing but the workspace, and works on files
// at all: a path beside an address of a server proves nothing.
func (s Scope) proven(c trace.ToolCall) bool {
	return s.below(c) && s.Tools.UnknownKey(c.RawName, c.Input) == ""
}

// below reports whether all files that a call may name are provably in the workspace. The
// proof covers the input as the agent will run it, not only the locations that are
// shown. Each string that the agent may take for a path or for a pattern counts. An
// input that is not understood proves nothing.
func (s Scope) below(c trace.ToolCall) bool {
	switch c.ToolKind {
	case trace.ToolRead, trace.ToolEdit, trace.ToolDelete, trace.ToolMove, trace.ToolSearch:
	default:
		return false // a command or a server can touch anything
	}
	reach := s.Tools.Reach(c.RawName, c.Input)
	if s.Contains == nil || reach.Unclear != "" || s.touches(c) != no {
		return false
	}
	bases := slices.Clone(reach.Named)
	if reach.Here {
		bases = append(bases, ".")
	}
	paths := slices.Concat(bases, reach.Loose)
	for _, l := range c.Locations {
		if !slices.Contains(paths, l.Path) {
			paths = append(paths, l.Path)
		}
	}
	if len(bases)+len(c.Locations) == 0 || len(paths)+len(reach.Globs) > mostPaths {
		return false
	}
	for _, p := range paths {
		if !s.path(p) {
			return false
		}
	}
	for _, g := range reach.Globs {
		if !s.glob(bases, g) {
			return false
		}
	}
	return true
}

// path reports whether a path names one file in the workspace, whether the agent
// resolves ".." before symlinks or after them.
func (s Scope) path(p string) bool {
	if !literal(p) || !s.Contains(p) {
		return false
	}
	clean := path.Clean(p)
	return clean == p || s.Contains(clean)
}

// glob reports whether all that a pattern can match is in the workspace. The
// pattern starts from one of the bases, or from the workspace.
func (s Scope) glob(bases []string, pattern string) bool {
	all, ok := unfold(strings.TrimPrefix(pattern, "!"))
	if !ok {
		return false
	}
	for _, one := range all {
		prefix, ok := fixed(one)
		if !ok {
			return false
		}
		for _, base := range append([]string{"."}, bases...) {
			if path.IsAbs(prefix) {
				base = ""
			}
			if !s.path(path.Join(base, prefix)) {
				return false
			}
		}
	}
	return true
}
