package config

import (
	"fmt"
	"strings"
)

// Fault is something in a configuration that cannot be meant.
type Fault struct {
	File string
	// Line is 0 when no line is to blame.
	Line     int
	Sentence string
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Sentence
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Sentence)
}

// Fault returns an error about the value at a path such as agents.claude.model,
// which begins with that path and names the line it stands on.
func (c Config) Fault(path, format string, args ...any) error {
	f := &Fault{File: c.file, Sentence: path + " " + fmt.Sprintf(format, args...)}
	for at := path; at != ""; {
		if line, ok := c.lines[at]; ok {
			f.Line = line
			break
		}
		cut := strings.LastIndexAny(at, ".[")
		at = at[:max(cut, 0)]
	}
	if f.File == "" {
		f.File = "the configuration"
	}
	return f
}

// or joins words as a sentence does.
func or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
