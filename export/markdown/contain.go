package markdown

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

// code is a text as a part of one line that goes on with the gateway's own words: a span of code,
// whose marks are longer than every run of them in the text.
func code(text string) string {
	text = strings.Join(strings.Fields(quote.Visible(text)), " ")
	if text == "" {
		return ""
	}
	marks := backticks(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return marks + text + marks
}

// backticks are at least so many backticks, and more than stand together in the text.
func backticks(text string, least int) string {
	run := 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		least = max(least, run+1)
	}
	return strings.Repeat("`", least)
}

var (
	// nested is the beginning of a fence that may belong to a list, a quotation or an indented text.
	nested = regexp.MustCompile("^[ \t>*+0-9.)-]+(```|~~~)") //nolint:gochecknoglobals // never written
	// beyond is what reaches beyond a quotation: HTML, which may end the quotation, and the
	// definition of a link or a footnote, which holds in the whole document.
	beyond = regexp.MustCompile(`\\*(<[a-zA-Z/!?]|\]:)`) //nolint:gochecknoglobals // never written
)

// contained is the words of a person or an agent as a quotation. Each line of theirs has the mark
// of the quotation. So no heading, fence or list of theirs is one of the document, and a reader
// sees which lines are the gateway's. HTML is plain text, except in a fence.
func contained(text string) string {
	text = strings.TrimSpace(plain(text))
	lines := strings.Split(text, "\n")
	open := ""         // the fence
	uncertain := false // only a whole reader of Markdown could tell which fences are open
	for i, line := range lines {
		marks := fenceOf(line)
		switch {
		case uncertain:
		case open != "":
			closing := strings.Trim(line, " \t")
			lead, _, _ := strings.Cut(line, closing)
			if fenceOf(closing) == closing && strings.HasPrefix(closing, open) && (len(lead) <= 3 || strings.Contains(lead, "\t")) {
				open, uncertain = "", strings.Contains(lead, "\t") // the width of a tab depends on the marks before it
			}
			continue
		case marks != "":
			open = marks
			continue
		default:
			uncertain = nested.MatchString(line)
		}
		lines[i] = beyond.ReplaceAllStringFunc(line, escaped)
	}
	return quoted(strings.Join(lines, "\n"))
}

// escaped escapes a character that may have backslashes before it. One is an escape already if
// their number is odd.
func escaped(match string) string {
	at := strings.IndexAny(match, "<]")
	return match[:at] + strings.Repeat(`\`, 1-at%2) + match[at:]
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
