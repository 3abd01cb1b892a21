package agent

import (
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/trace"
)

// Shell is what Commands returns for a message that begins with an exclamation mark: some programs
// run the rest as a command of a shell.
const Shell = "!"

// Commands returns the names of the commands that an agent may find in a message, such as
// config in "/config model=x", or team/deploy of a file in a folder. A path such as /tmp/a counts, too:
// its words do not tell it from such a command, and whether the file exists is not to be told to
// everybody. Characters that nobody sees do not hide a command, because some agents cut them away.
func Commands(m trace.UserMessage) (names []string) {
	var texts []string
	for _, part := range m.Parts {
		if part.Type == trace.InputText {
			texts = append(texts, part.Text)
		}
	}
	for _, text := range append(texts, strings.Join(texts, "")) {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isUnseen(r) })
		if strings.HasPrefix(text, Shell) {
			names = append(names, Shell)
			continue
		}
		line, slash := strings.CutPrefix(text, "/")
		if !slash || strings.HasPrefix(line, " ") {
			continue // most messages, which may be large: their words are not looked at
		}
		for word := range strings.FieldsSeq(line) {
			if strings.Trim(word, "/") != "" { // else it is the beginning of a comment
				names = append(names, strings.ToLower(strings.Map(seen, word)))
			}
			break
		}
	}
	return names
}

// isUnseen reports whether a character is a control or a mark that is not shown.
func isUnseen(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

func seen(r rune) rune {
	if isUnseen(r) {
		return -1
	}
	return r
}
