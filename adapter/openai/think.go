package openai

import "strings"

// thinkTags splits reasoning between <think> tags from a text. Only tags in front of the text
// count: later ones are words about tags.
type thinkTags struct {
	held   string // may be the beginning of a tag
	inside bool   // behind an opening tag
	fresh  bool   // nothing but line ends came behind the opening tag
	begun  bool   // the text has begun
}

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// split gives the next piece of text to the two functions.
func (t *thinkTags) split(delta string, thinks, writes func(string)) {
	text := t.held + delta
	t.held = ""
	for text != "" {
		switch {
		case t.begun:
			writes(text)
			return
		case t.inside && t.fresh:
			text = strings.TrimLeft(text, "\r\n")
			t.fresh = text == ""
		case t.inside:
			thought, behind, closed := strings.Cut(text, closeTag)
			if !closed {
				n := len(text) - beginningAtEnd(text, closeTag)
				thinks(text[:n])
				t.held = text[n:]
				return
			}
			thinks(thought)
			t.inside, text = false, behind
		default:
			text = strings.TrimLeft(text, " \t\r\n")
			switch behind, opened := strings.CutPrefix(text, openTag); {
			case opened:
				t.inside, t.fresh, text = true, true, behind
			case strings.HasPrefix(openTag, text):
				t.held = text
				return
			default:
				t.begun = true
			}
		}
	}
}

// flush gives what is held at the end of the text.
func (t *thinkTags) flush(thinks, writes func(string)) {
	if t.inside {
		thinks(t.held)
	} else {
		writes(t.held)
	}
	t.held = ""
}

// beginningAtEnd is how many bytes at the end of a text are the beginning of a tag.
func beginningAtEnd(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
