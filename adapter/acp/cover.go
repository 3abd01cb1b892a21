package acp

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// allowance is a call in the form in which it was allowed once. It covers each action
// that the form shows one time, while the call runs.
type allowance struct {
	asked *call
	used  map[string]bool
}

// covers reports whether a call that runs and was allowed includes an action, so that nobody
// is asked twice. The form counts in which the call was allowed, whatever the agent has shown
// of the call since.
func (c *turn) covers(a action, d *Decoder) bool {
	use := a.method + " " + a.Path + a.commandLine()
	for _, tc := range c.calls {
		if tc.done || tc.tool.ToolKind != a.kind() {
			continue
		}
		for _, allowed := range tc.allowed {
			if !allowed.used[use] && allowed.asked.shows(a, d) {
				allowed.used[use] = true
				return true
			}
		}
	}
	return false
}

// kind is that of the calls which may cover the action. A rule for edits does not judge
// reads, so an edit that was allowed covers no read.
func (a action) kind() trace.ToolKind {
	return map[string]trace.ToolKind{methodRead: trace.ToolRead, methodWrite: trace.ToolEdit, methodTerminal: trace.ToolExecute}[a.method]
}

// shows reports whether an action is what the call was to do.
func (tc *call) shows(a action, d *Decoder) bool {
	switch {
	case tc.tool.ToolKind != a.kind():
		return false
	case a.method == methodTerminal:
		return tc.runs(a, d.cwd)
	}
	return tc.names(a) && (a.method == methodRead && tc.reads(a, d) || a.method == methodWrite && tc.writes(a, d))
}

// names reports whether the call names the file of an action.
func (tc *call) names(a action) bool {
	return a.Path != "" && slices.ContainsFunc(tc.tool.Locations, func(l trace.Location) bool { return l.Path == a.Path })
}

// inputPaths are the files that stand in the call's input. Locations are no part of the input,
// and nobody is shown them.
func (tc *call) inputPaths(d *Decoder) []string {
	var all []string
	for _, path := range d.o.Tools.Reach(tc.tool.RawName, tc.raw).Named {
		all = append(all, at(d.cwd, path))
	}
	return all
}

// reads reports whether the call has shown that it reads a file. Some agents show no input.
func (tc *call) reads(a action, d *Decoder) bool {
	shown := tc.inputPaths(d)
	return len(shown) == 0 || slices.Contains(shown, a.Path)
}

// writes reports whether the call has shown what a file is to hold: the whole text, or the
// pieces that change in the text of now.
func (tc *call) writes(a action, d *Decoder) bool {
	changes := tc.changes(a.Path, d)
	if len(changes) == 0 {
		return false
	}
	text := ""
	if changes[0].Before != "" {
		if d.o.now == nil { // a recording shows no more
			return true
		}
		var whole bool
		if text, whole = d.o.now(a.Path); !whole {
			return false
		}
	}
	for i, c := range changes {
		var ok bool
		if text, ok = c.Applied(text); !ok || i > 0 && c.Before == "" {
			return false
		}
	}
	return text == string(a.Content)
}

// changes are what the call shows of a file's new text: by its input, if the input names this
// file and no other, or else by its diffs.
func (tc *call) changes(path string, d *Decoder) (all []toolkind.Change) {
	if c, ok := toolkind.ChangeOf(tc.raw); ok {
		if shown := slices.Compact(tc.inputPaths(d)); len(shown) == 1 && shown[0] == path {
			all = append(all, c)
		}
		return all
	}
	replaceAll := toolkind.ReplacesAll(tc.raw)
	for _, i := range tc.diffs {
		if i.Path == path {
			all = append(all, toolkind.Change{Before: i.before(), After: string(i.NewText), All: replaceAll})
		}
	}
	return all
}

// runs reports whether a terminal is to run the command that the call has shown, in the
// same directory. An agent may go into that directory first, by itself.
func (tc *call) runs(a action, cwd string) bool {
	in := parse[map[string]any](tc.raw) // a struct would take the key Command, too
	command, _ := in["command"].(string)
	inDir, _ := in["cwd"].(string)
	if command == "" || !a.plainEnv() {
		return false
	}
	line, dir := a.commandLine(), at(cwd, a.Cwd)
	if len(a.Args) == 2 && (a.Args[0] == "-c" || a.Args[0] == "-lc") && permission.IsShell(a.Command) {
		line = a.Args[1]
		if there := at(cwd, inDir); there != "" && strings.HasPrefix(line, "cd "+quoted(there)+" && ") {
			line, dir = strings.TrimPrefix(line, "cd "+quoted(there)+" && "), there
		}
	}
	return line == command && dir == at(cwd, inDir)
}

// at is a directory as seen from another one.
func at(cwd, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(cwd, dir)
}

var plainValue = regexp.MustCompile(`^[A-Za-z0-9-]*$`) //nolint:gochecknoglobals // compiled once

// plainEnv reports whether the variables of a command only say how it prints, and that
// nobody answers its questions. Other variables, such as PATH, change what it does.
func (a action) plainEnv() bool {
	for _, v := range a.Env {
		switch v.Name {
		case "AGENT_SESSION_ID": // Goose gives it to each command
		case "NO_COLOR", "TERM", "GIT_TERMINAL_PROMPT":
			if !plainValue.MatchString(v.Value) {
				return false
			}
		case "SHELL":
			if !permission.IsShell(v.Value) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
