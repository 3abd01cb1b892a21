package demo

import (
	"strings"
)

func hello() beat {
	return say("Hello! I am the demo agent, and I have no model. Say help to see what I can play.")
}

func thinks() beat {
	return seq(
		reason("The user wants to see me think. I shall look thoughtful, and then answer."),
		say("I thought about it, and the answer is yes."),
	)
}

func quiet() beat {
	return seq(
		say("Now I am quiet for a while."),
		func(s *stage) error { return s.rest(500) },
		say("And that was it."),
	)
}

func errs() beat {
	return seq(
		say("This goes well so far,"),
		func(*stage) error { return failure("The demo agent failed, as it was asked to.") },
	)
}

func remembers(s *stage) error {
	if len(s.earlier) == 0 {
		return say("This is the first prompt of the session that I know of.")(s)
	}
	return say("Before this you said:\n\n- " + strings.Join(s.earlier, "\n- "))(s)
}

// splits says a text in pieces that are cut inside characters: between the bytes
// of one, between its surrogates, and between what is joined or combined.
func splits(s *stage) error {
	key := s.id("text")
	for _, piece := range []string{
		"Bytes: \xf0\x9f", "\x98\x80 ", // U+1F600
		"surrogates: \xed\xa0\xbd", "\xed\xb8\x82 ", // U+1F602
		"a family: \U0001F468\u200d", "\xf0", "\x9f", "\x91", "\xa9", "\u200d\xed\xa0\xbd", "\xed\xb1\xa7 ",
		"a flag: \U0001F1E8", "\U0001F1ED ",
		"a skin: \U0001F44D", "\U0001F3FD ",
		"combined: e", "\u0301 and o", "\u0308 ",
		"right to left: \u05e9\u05dc\u05d5\u05dd \u0639\u0644", "\u064a\u0643\u0645 ",
		"Chinese: \xe6\xbc", "\xa2\xe5", "\xad\x97 ",
		"and \"quotes\", \\, <b>&amp;</b>, \u2028, \t, end.",
	} {
		if err := s.rest(1); err != nil {
			return err
		}
		s.b.MessageDelta(key, piece)
	}
	s.b.MessageEnd(key)
	return nil
}

func slow(s *stage) error { return slowly(5, prose(100))(s) }
func long(s *stage) error { return say(prose(2000))(s) }

// prose is a text of n words, in lines of a hundred.
func prose(n int) string {
	vocabulary := strings.Fields("many streams flow into one river and the river carries what each of them brought down to the sea")
	var text strings.Builder
	for i := range n {
		switch {
		case i == 0:
		case i%100 == 0:
			text.WriteString(" \n")
		default:
			text.WriteByte(' ')
		}
		text.WriteString(vocabulary[i%len(vocabulary)])
	}
	return text.String()
}
