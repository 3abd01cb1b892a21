package eventlog

import (
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/trace"
)

// This file says which words of a session a search finds. All stores use these words, so that
// all of them find the same.

// Bounds of the words of one text.
const (
	searchedText = 256 << 10 // bytes from its beginning
	mostWords    = 10_000
	longestWord  = 64 // letters; the others are left out
)

// Words are the words of a text, each once: letters and digits, in lower case. In scripts that
// have no spaces each letter is a word.
func Words(text string) (words []string) {
	known := map[string]struct{}{}
	var word []rune
	end := func() {
		if w := string(word); len(word) > 0 && len(words) < mostWords {
			if _, twice := known[w]; !twice {
				known[w] = struct{}{}
				words = append(words, w)
			}
		}
		word = word[:0]
	}
	for i, r := range text {
		if i >= searchedText {
			break
		}
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
			end()
			word = append(word, r)
			end()
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r) && len(word) > 0:
			if len(word) < longestWord {
				word = append(word, unicode.ToLower(r))
			}
		default:
			end()
		}
	}
	end()
	return words
}

// SearchedText is the text of a record in which a search looks: of a prompt or of an answer.
func SearchedText(p trace.Payload) string {
	if m, is := p.(trace.Message); is && m.Role == trace.RoleAssistant && !m.Superseded {
		return m.Text
	}
	var text []string
	if prompt, is := p.(trace.Prompt); is {
		for _, part := range prompt.Message.Parts {
			if part.Type == trace.InputText {
				text = append(text, part.Text)
			}
		}
	}
	return strings.Join(text, "\n")
}
