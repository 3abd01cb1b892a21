package yamlfile

import (
	"cmp"
	"fmt"
	"strings"
)

// Fault is something in a file that cannot be meant.
type Fault struct {
	File     string
	Line     int // 0 if no line is to blame
	Sentence string
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Sentence
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Sentence)
}

// Lines say on which lines of a file its values stand. The zero value is for a configuration that was
// not read from a file.
type Lines struct {
	file   string
	byPath map[string]int
}

// Fault returns a [Fault] about the value at a path such as agents.claude.args[0]. Its sentence
// begins with the path, and its line is that of the value, or of the nearest value around it.
func (l Lines) Fault(path, format string, args ...any) error {
	f := &Fault{File: cmp.Or(l.file, "the configuration"), Sentence: path + " " + fmt.Sprintf(format, args...)}
	for at := path; at != "" && f.Line == 0; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		f.Line = l.byPath[at]
	}
	return f
}

// Or joins words as a sentence does.
func Or(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Words are strings of a type as strings.
func Words[T ~string](all ...T) []string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return words
}
