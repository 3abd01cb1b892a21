package transcript

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file keeps texts in their places.

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// special are the characters that mean something inside a line.
var special = strings.NewReplacer( //nolint:gochecknoglobals // never written
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "&", `\&`, "#", `\#`, "|", `\|`, "~", `\~`)

// sequence is a control sequence of a terminal.
var sequence = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\^_])") //nolint:gochecknoglobals // never written

// plain is a text without what only a terminal understands: the words of people and agents, and
// what a tool returns.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, sequence.ReplaceAllString(text, ""))
}

// inline is a text as part of one line, where it means itself. Titles and names are such texts:
// their hidden characters are visible.
func inline(text string) string {
	return special.Replace(strings.Join(strings.Fields(quote.Visible(text)), " "))
}

// nested is the beginning of a fence that may belong to a list, a quotation or an indented text.
var nested = regexp.MustCompile("^[ \t>*+0-9.)-]+(```|~~~)") //nolint:gochecknoglobals // never written

// contained is a text in Markdown that does not reach beyond its end. It closes an open fence,
// and HTML that would go on to the end of the document becomes plain text. Where only a whole
// reader of Markdown could tell which fences are open, the text becomes a quotation: that ends
// with its lines.
func contained(text string) string {
	text = strings.TrimSpace(plain(text))
	lines := strings.Split(text, "\n")
	open := "" // the fence
	html := false
	for i, line := range lines {
		marks := fenceOf(line)
		rest := strings.TrimLeft(line, " ")
		lead := len(line) - len(rest)
		switch {
		case open != "":
			rest = strings.TrimRight(rest, " \t")
			if closing := fenceOf(rest); lead <= 3 && closing == rest && strings.HasPrefix(closing, open) {
				open = ""
			}
		case nested.MatchString(line), marks != "" && html:
			return quoted(text)
		case marks != "":
			open = marks
		case strings.Trim(line, " \t") == "":
			html = false
		case strings.HasPrefix(rest, "<"):
			html = true // it may go on to the next empty line
			if lead <= 3 && endless(rest) {
				lines[i] = line[:lead] + `\` + rest
			}
		}
	}
	if open != "" {
		lines = append(lines, open)
	}
	return strings.Join(lines, "\n")
}

func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// fenceOf is the fence with which a line begins, or "".
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && !(mark == "`" && strings.Contains(rest, mark)) {
			return line[:n]
		}
	}
	return ""
}

// endless reports whether a line begins HTML that an empty line does not end.
func endless(line string) bool {
	line = strings.ToLower(line)
	for _, tag := range []string{"<!", "<?", "<pre", "<script", "<style", "<textarea"} {
		if strings.HasPrefix(line, tag) {
			return true
		}
	}
	return false
}
