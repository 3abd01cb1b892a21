package agentkit

import (
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Blocks makes of the parts of a prompt the finished blocks that an agent gets. Some agents
// read the file that a prompt mentions with @, and ask nobody. So a space after the @ takes
// each mention apart of which it is not proven that the file is inside, and the agent has to
// call a tool for the file. Blocks does that last, with the words of a block as the agent
// reads them, because words that are harmless each may be a mention together.
//
// text makes a block of words. file makes a block of a file that the agent takes as such, and
// returns false for every other file, which becomes words. A part without words is left out.
// inside is the Contains of the workspace.
func Blocks[B any](parts []trace.InputPart, inside func(path string) bool, text func(words string) B, file func(Attachment) (B, bool)) []B {
	m := mentions{inside: inside, proven: map[string]bool{}}
	var all []B
	for i, part := range parts {
		words := part.Text
		if part.Type != trace.InputText {
			a := m.attachment(part)
			if block, ok := file(a); ok {
				all = append(all, block)
				continue
			}
			words = a.Text()
		}
		if words != "" {
			all = append(all, text(m.apart(words, i == len(parts)-1)))
		}
	}
	return all
}

// PromptText is the text of a prompt, finished as Blocks finishes it, for an agent that takes
// nothing but text.
func PromptText(p agent.Prompt, inside func(path string) bool) string {
	var parts []trace.InputPart
	for _, part := range p.Message.Parts {
		if part.Type == trace.InputText {
			parts = append(parts, part)
		}
	}
	return strings.Join(Blocks(parts, inside, Words, NoFile[string]), "\n")
}

// Unmentioned is a text of a person that is no prompt, such as the answer to a question or the
// reason of a refusal, without mentions of files that are not proven to be inside; see Blocks.
func Unmentioned(words string, inside func(path string) bool) string {
	m := mentions{inside: inside, proven: map[string]bool{}}
	return m.apart(words, true)
}

// Words is a block that is nothing but its words; see Blocks.
func Words(words string) string { return words }

// NoFile is for an agent that takes no file as such; see Blocks.
func NoFile[B any](Attachment) (none B, _ bool) { return none, false }

const (
	// mostProofs bounds the look-ups in the file system for one prompt. Further mentions count
	// as not proven.
	mostProofs = 1000
	// longestMention is the length in bytes of the longest word that can be proven.
	longestMention = 4 << 10
	// sentenceMarks may follow a mention, up to mostMarks of them. The mention is proven with
	// and without each.
	sentenceMarks = "./-,;:!?)"
	mostMarks     = 4
	// signs are @, and the wide and the small one, which programs may take for @.
	signs = "@\uFF20\uFE6B"
)

// spaced takes every mention apart, for the names of files, which agents put between words of
// their own.
//
//nolint:gochecknoglobals // read only
var spaced = strings.NewReplacer("@", "@ ", "\uFF20", "\uFF20 ", "\uFE6B", "\uFE6B ")

// mentions takes the mentions of one prompt apart.
type mentions struct {
	inside func(path string) bool
	proven map[string]bool // by path
}

// attachment is a file without mentions. Agents take files of many types for text. A file of an
// unknown type that is no text, and may be taken for one that mentions a file, is held back.
func (m *mentions) attachment(part trace.InputPart) Attachment {
	a := Attached(part)
	a.Name = spaced.Replace(a.Name)
	if !a.Inline || a.isBinary() {
		return a
	}
	words := m.apart(string(a.Data), false)
	switch {
	case words == string(a.Data):
	case a.IsText() || utf8.Valid(a.Data):
		a.Data, a.raw = []byte(words), ""
	default:
		a.Data, a.raw, a.Inline = nil, "", false
	}
	return a
}

// apart puts a space after each @ that is not proven harmless. Another text may follow at once
// unless the text is the last: then a space ends a mention at the end.
func (m *mentions) apart(text string, last bool) string {
	if !strings.ContainsAny(text, signs) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	var safe strings.Builder
	from, end, open := 0, 0, false
	for i, r := range text {
		if !strings.ContainsRune(signs, r) {
			continue
		}
		after := i + utf8.RuneLen(r)
		if end < after { // else the @ stands in the same word as the one before
			end = after + len(text[after:])
			if n := strings.IndexAny(text[after:], " \t\r\n"); n >= 0 {
				end = after + n
			}
		}
		safe.WriteString(text[from:after])
		from = after
		harmless := m.harmless(text[after:end], i > 0 && isWordByte(text[i-1]))
		if !harmless {
			safe.WriteByte(' ')
		}
		open = harmless && end == len(text)
	}
	safe.WriteString(text[from:])
	if open && !last {
		safe.WriteByte(' ')
	}
	return safe.String()
}

// harmless reports whether the word after an @ names files inside only, or no file.
//
// Some agents know no mention behind a letter, so ada@example.com and git@host:a/b.git stay as
// they are: an agent that does know one takes such a word for a path below its directory.
// Elsewhere a word is a path of plain letters, because a program may read more than a name in
// others, and because white space of Unicode ends a word for some agents only.
func (m *mentions) harmless(word string, address bool) bool {
	switch word {
	case "":
		return true
	case "@": // as in a diff
		return m.isInside(word)
	}
	if len(word) > longestMention {
		return false
	}
	// A diff that is written as JSON has \n behind @@. Without a slash the word is at most the name
	// of a file in the workspace itself.
	if rest, diff := strings.CutPrefix(strings.TrimPrefix(word, "@"), `\n`); diff {
		odd := func(r rune) bool { return r < '!' || r > '~' || r == '/' || r == '@' }
		return strings.IndexFunc(rest, odd) < 0 && !strings.Contains(rest, "..") && m.isInside(word)
	}
	if address && !isWordByte(word[0]) {
		return false
	}
	for i := range len(word) { // stops at the next @, so that a text of nothing but @ takes no time
		plain := isWordByte(word[i]) || strings.IndexByte(sentenceMarks, word[i]) >= 0
		if !plain && (!address || word[i] < '!' || word[i] > '~' || word[i] == '@' || word[i] == '\\') {
			return false
		}
	}
	path := strings.TrimRight(word, sentenceMarks)
	if len(word)-len(path) > mostMarks || !address && strings.ContainsAny(path, ",;:!?)") {
		return false
	}
	for step := range strings.SplitSeq(word, "/") {
		if strings.TrimRight(step, ",;:!?)") == ".." { // agents differ in what that is behind a link
			return false
		}
	}
	for end := max(len(path), 1); end <= len(word); end++ {
		if !m.isInside(word[:end]) {
			return false
		}
	}
	return true
}

func (m *mentions) isInside(path string) bool {
	inside, known := m.proven[path]
	if !known && len(m.proven) < mostProofs {
		inside = m.inside(path)
		m.proven[path] = inside
	}
	return inside
}

// isWordByte reports whether a byte is a letter, a digit or _ of ASCII.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
