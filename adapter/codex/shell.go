package codex

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/permission"
)

// script is the command that a shell runs. Codex shows `/bin/bash -lc 'go test'` for
// `go test`, and a policy's rules are about the latter. Another line stays as it is.
func script(line string) string {
	w := words(line)
	if len(w) == 3 && permission.IsShell(w[0]) && slices.Contains([]string{"-lc", "-c"}, w[1]) {
		return w[2]
	}
	return line
}

// words takes a line apart that Codex has put together of quoted words. It returns
// nothing for a line whose quotes do not match.
func words(line string) []string {
	var all []string
	var word strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+1 < len(line) && (quote == 0 || quote == '"' && strings.IndexByte("$`\"\\", line[i+1]) >= 0):
			i++
			word.WriteByte(line[i])
			begun = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && c == ' ':
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}
