package cli

import (
	"os"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/internal/quote"
)

// isTerminal reports whether a person is at the other end of a stream. The null device is a character
// device like a terminal, and a stream that leads to it has another name.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull && (nullErr != nil || !os.SameFile(info, null))
}

// dim prints a line in a weaker colour.
func dim(line string) string { return "\x1b[2m" + line + "\x1b[0m" }

// harmless removes characters that would move a terminal's cursor or change its colours. It is
// for the words of an agent; what a person decides on shows such characters ([quote.Visible]).
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// oneParagraph makes one line of a text, with its hidden characters visible.
func oneParagraph(text string) string { return strings.Join(strings.Fields(quote.Visible(text)), " ") }

// oneLine makes a short line of a text.
func oneLine(text string) string {
	const longest = 120
	runes := []rune(oneParagraph(text))
	if len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return string(runes)
}
