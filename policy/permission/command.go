package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/trace"
)

// answer is how a rule relates to a call.
type answer int

const (
	no     answer = iota
	yes           // the rule is about this call
	unsure        // it may be: a rule that allows does not match, another one asks
)

// command reports whether a call runs one simple command that is like one of the
// patterns. A list of commands, a substitution, a redirection, an assignment in front,
// or anything else that is more than plain words, is unsure. With any, a * in a word is
// any text, for rules that do not allow.
func (s Scope) command(c trace.ToolCall, patterns []string, any bool) answer {
	if c.ToolKind != trace.ToolExecute {
		return no
	}
	reach := s.Tools.Reach(c.RawName, c.Input)
	if reach.Unclear != "" || len(reach.Commands) != 1 || len(reach.Loose)+len(reach.Globs) > 0 {
		return unsure
	}
	words, ok := simple(reach.Commands[0])
	if !ok {
		return unsure
	}
	for _, dir := range reach.Named { // the words mean something else in another directory
		if s.Contains == nil || !s.path(dir) {
			return unsure
		}
		if rel, ok := s.resolve(dir); strings.Contains(words[0], "/") && !path.IsAbs(words[0]) && (!ok || rel != ".") {
			return unsure // and so does a program's own path
		}
	}
	if slices.ContainsFunc(patterns, func(p string) bool { return likeCommand(strings.Fields(p), words, any) }) {
		return yes
	}
	return no
}

// likeCommand compares word by word. The last word of a pattern may be *, which
// stands for any further words; elsewhere * stays within its word.
func likeCommand(pattern, words []string, any bool) bool {
	for i, p := range pattern {
		if p == "*" && i == len(pattern)-1 {
			return any || i != 1 || !leads(words)
		}
		if i >= len(words) || !likeWord(p, words[i], any) {
			return false
		}
	}
	return len(pattern) > 0 && len(pattern) == len(words)
}

// likeWord compares a word. A word may be a path, and a rule that allows scripts/*.sh
// does not mean scripts/../evil.sh: * stays within a name, and does not climb.
func likeWord(pattern, word string, any bool) bool {
	if any {
		return like([]rune(pattern), []rune(word))
	}
	names, parts := strings.Split(word, "/"), strings.Split(pattern, "/")
	return len(names) == len(parts) && !slices.ContainsFunc(names, func(n string) bool { return n == ".." && !slices.Contains(parts, "..") }) &&
		likeSegments(parts, names)
}

// leads reports whether options stand in front of git's own command. Such an option can
// name a program that git runs.
func leads(words []string) bool {
	return len(words) > 1 && path.Base(words[0]) == "git" && strings.HasPrefix(words[1], "-")
}

// simple splits a command that is plain words and quoted words into its words. It
// looks into bash -c 'WORDS', as which some agents run everything.
func simple(command string) (words []string, ok bool) {
	words, ok = split(command)
	if !ok || len(words) == 0 || strings.Contains(words[0], "=") {
		return nil, false
	}
	if len(words) == 3 && IsShell(words[0]) && (words[1] == "-c" || words[1] == "-lc") {
		words, ok = split(words[2])
		if !ok || len(words) == 0 || strings.Contains(words[0], "=") {
			return nil, false
		}
	}
	return words, true
}

// IsShell reports whether a word names a shell of the system, which runs the text after
// -c. A program of that name elsewhere may do anything.
func IsShell(program string) bool {
	dir, name := path.Split(program)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/"}, dir) && slices.Contains([]string{"sh", "bash", "zsh", "dash"}, name)
}

// split splits a line into its words as a shell does. The line is plain if it has plain words and
// quoted words only: no character that a shell may read as more than a part of a word stands
// outside of quotes. The words of another line are between the signs that separate commands, and
// nothing in them is expanded.
func split(line string) (words []string, plain bool) {
	var word strings.Builder
	var quote rune
	begun, escaped, plain := false, false, true
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		if r != '\t' && !steady(r) || quote == 0 && strings.ContainsRune(";&|<>(){}[]$`\\*?~#!^", r) || quote == '"' && strings.ContainsRune("$`\\!", r) {
			plain = false
		}
		switch {
		case escaped:
			escaped = false
			if quote == '"' && !strings.ContainsRune("$`\"\\\n", r) {
				word.WriteRune('\\') // it escapes nothing
			}
			if r != '\n' { // the line goes on
				word.WriteRune(r)
			}
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(";&|<>()`", r):
			end()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return words, plain && quote == 0
}
