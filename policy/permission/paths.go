package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// paths reports whether all files of a call are in the workspace and like one of the
// patterns. With any, one such file is enough, for rules that do not allow. An input
// that is not understood is unsure. Of commands and other tools only the files that they
// name are known, so no rule with paths allows them.
func (s Scope) paths(c trace.ToolCall, patterns []string, any bool) answer {
	switch c.ToolKind {
	case trace.ToolRead, trace.ToolEdit, trace.ToolDelete, trace.ToolMove, trace.ToolSearch:
	default:
		if !any {
			return no
		}
		return s.mentions(c, patterns)
	}
	if any && !s.below(c) || !any && !s.proven(c) {
		return s.outside(c, any)
	}
	reach := s.Tools.Reach(c.RawName, c.Input)
	files := slices.Clone(reach.Named)
	for _, l := range c.Locations {
		files = append(files, l.Path)
	}
	if any {
		files = append(files, reach.Loose...)
	}
	below := c.ToolKind == trace.ToolSearch
	if below && reach.Here {
		files = append(files, ".")
	}
	if slices.ContainsFunc(reach.Globs, path.IsAbs) {
		return unsure // it starts elsewhere than the files say
	}
	all := true
	for _, f := range files {
		rel, ok := s.resolve(f)
		switch {
		case !ok:
			return unsure
		case any && likePath(patterns, rel, true):
			return yes
		case any && below && mayReach(patterns, rel):
			return unsure // a search looks at files that it does not name
		case !any && !likePath(deep(patterns, below), rel, false):
			all = false
		}
	}
	if any || !all {
		return no
	}
	return yes
}

// mentions reports whether a command, or a call of another tool, names a file like one of the
// patterns.
func (s Scope) mentions(c trace.ToolCall, patterns []string) answer {
	named := s.texts(c)
	matches := func(name string) bool {
		rel, ok := s.resolve(name)
		return ok && likePath(patterns, rel, true)
	}
	switch {
	case slices.ContainsFunc(named.words, matches):
		return yes
	case named.more || slices.ContainsFunc(named.parts, matches):
		return unsure
	}
	return no
}

// resolve returns the path without symlinks, if both ways to read ".." agree.
func (s Scope) resolve(p string) (string, bool) {
	if s.Resolve == nil {
		return "", false
	}
	rel, err := s.Resolve(p)
	if err != nil {
		return "", false
	}
	clean, err := s.Resolve(path.Clean(p))
	return rel, err == nil && rel == clean
}

// deep returns the patterns that cover all that is below what they match, if a
// search has to be covered.
func deep(patterns []string, below bool) []string {
	if !below {
		return patterns
	}
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p != "**" && !strings.HasSuffix(p, "/**") })
}

// outside is the answer for a call that is not proven to stay in the workspace. The
// patterns name files of the workspace only. A call that names literal paths, all of
// them outside, is about none of them.
func (s Scope) outside(c trace.ToolCall, any bool) answer {
	reach := s.Tools.Reach(c.RawName, c.Input)
	if !any || reach.Unclear != "" || len(reach.Globs)+len(reach.Loose) > 0 || len(reach.Named) == 0 || s.Contains == nil {
		return unsure
	}
	for _, p := range reach.Named {
		if !literal(p) || !path.IsAbs(p) || s.Contains(p) || s.Contains(path.Clean(p)) {
			return unsure
		}
	}
	return no
}

// mayReach reports whether a file below dir may be like one of the patterns.
func mayReach(patterns []string, dir string) bool {
	for _, p := range patterns {
		front, ok := fixed(p)
		if !ok || dir == "." || front == "." || front == dir || strings.HasPrefix(front, dir+"/") || strings.HasPrefix(dir, front+"/") {
			return true
		}
	}
	return false
}

// likePath compares a path in the workspace with patterns of whole paths. fold ignores
// case, for rules that forbid on file systems that do.
func likePath(patterns []string, rel string, fold bool) bool {
	for _, p := range patterns {
		name := rel
		if fold {
			p, name = strings.ToLower(p), strings.ToLower(rel)
		}
		if likeSegments(strings.Split(p, "/"), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

func likeSegments(pattern, names []string) bool {
	for i, p := range pattern {
		if p == "**" {
			if i == len(pattern)-1 {
				return true
			}
			for j := range names {
				if likeSegments(pattern[i+1:], names[j:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 || !like([]rune(p), []rune(names[0])) {
			return false
		}
		names = names[1:]
	}
	return len(names) == 0
}

// checkPath reports a pattern that cannot match a path in the workspace.
func checkPath(pattern string) error {
	if pattern == "" || path.Clean(pattern) != pattern || path.IsAbs(pattern) || strings.HasPrefix(pattern, "..") || strings.ContainsAny(pattern, `\~$[]{}`) {
		return fmt.Errorf("the path %q is no pattern: write a path in the workspace such as src/**, with * ? and **", pattern)
	}
	if strings.Count(pattern, "**") > 2 {
		return fmt.Errorf("the path %q has more than two **", pattern)
	}
	return nil
}
