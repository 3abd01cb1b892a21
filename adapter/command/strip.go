package command

import (
	"regexp"
	"strings"
)

// escapes are the terminal's control sequences. unfinished is the beginning of one.
var (
	escapes    = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[ -/]*[0-Z\\\\^-~])|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\r(\n)")
	unfinished = regexp.MustCompile("(\x1b(\\[[0-?]*[ -/]*|\\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?|\r)$")
)

// stripper removes control sequences from a text that comes in pieces.
type stripper struct{ held string }

func (s *stripper) strip(text string) string {
	if text = s.held + text; !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		s.held = ""
		return text // most text has nothing to strip
	}
	s.held = unfinished.FindString(text[max(0, len(text)-1000):]) // a longer beginning is given up
	return escapes.ReplaceAllString(text[:len(text)-len(s.held)], "$3")
}
