package eventlog

import (
	"strings"
	"unicode"
	"unicode/utf8"

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
	var word []byte
	letters := 0
	end := func() {
		if _, twice := known[string(word)]; !twice && letters > 0 && len(words) < mostWords {
			w := string(word)
			known[w] = struct{}{}
			words = append(words, w)
		}
		word, letters = word[:0], 0
	}
	for i, r := range text {
		if i >= searchedText {
			break
		}
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', 'A' <= r && r <= 'Z': // most of most texts
			r |= 0x20 // lower case; the digits have this bit
		case r < utf8.RuneSelf:
			end()
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
			end()
			word, letters = utf8.AppendRune(word, r), 1
			end()
			continue
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r) && letters > 0:
			r = unicode.ToLower(r)
		default:
			end()
			continue
		}
		if letters < longestWord {
			word = utf8.AppendRune(word, r)
			letters++
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
