package agentkit

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// WithoutMentions applies Mentions to the texts of a prompt and to the texts attached.
func WithoutMentions(p agent.Prompt, inside func(path string) bool) agent.Prompt {
	p.Message.Parts = slices.Clone(p.Message.Parts)
	for i := range p.Message.Parts {
		part := &p.Message.Parts[i]
		part.Text, part.Filename = Mentions(part.Text, inside), Mentions(part.Filename, inside)
		if file := Attached(*part); part.Type == trace.InputFile && file.IsText() {
			part.URL = "data:" + file.Media + ";base64," + base64.StdEncoding.EncodeToString([]byte(Mentions(string(file.Data), inside)))
		}
	}
	return p
}

// Mentions makes a text harmless for an agent that reads the files that a prompt mentions
// with @ and asks nobody. A space after the @ takes the mention apart, unless the path is
// proven to be inside. So the agent has to call a tool for the file, and asks.
func Mentions(text string, inside func(path string) bool) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var safe strings.Builder
	before := ' '
	for i, r := range text {
		safe.WriteRune(r)
		if r == '@' && !strings.ContainsRune(addressMarks, before) && !unicode.IsLetter(before) && !unicode.IsDigit(before) && !mentionsInside(text[i+1:], inside) {
			safe.WriteByte(' ')
		}
		before = r
	}
	return safe.String()
}

// addressMarks may stand in front of the @ of a mail address, beside letters and digits.
const addressMarks = "._%+-"

// mentionsInside reports whether the word after an @ names a file that is inside, or no
// file. A word with characters that a program may read as more than a name is not proven.
func mentionsInside(rest string, inside func(path string) bool) bool {
	word := rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		word = rest[:end]
	}
	word = strings.TrimRight(word, "./-,;:!?)")
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_./-", r)
	}
	return word == "" && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, ".") || word != "" && strings.IndexFunc(word, odd) < 0 && inside(word)
}
