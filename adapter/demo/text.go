package demo

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

func hello(s *stage) {
	s.say("Hello! I am the demo agent, and I have no model. Say help to see what I can play.")
}

func think(s *stage) {
	s.reason("The user wants to see me think. I shall look thoughtful, and then answer.")
	s.say("I thought about it, and the answer is yes.")
}

func quiet(s *stage) {
	s.say("Now I am quiet for a while.")
	s.waitPaces(500)
	s.say("And that was it.")
}

func fails(s *stage) {
	s.say("This goes well so far,")
	if s.err == nil {
		s.err = errors.New("The demo agent failed, as it was asked to.") //nolint:staticcheck,revive // the user reads the sentence
	}
}

// cut says a text in pieces that are cut inside characters: between the bytes of one,
// between its surrogates, and between characters that are joined or combined.
func cut(s *stage) {
	s.write(
		1,
		"Bytes: \xf0\x9f", "\x98\x80 ", // U+1F600
		"surrogates: \xed\xa0\xbd", "\xed\xb8\x82 ", // U+1F602
		"a family: \U0001F468\u200d", "\xf0", "\x9f", "\x91", "\xa9", "\u200d\xed\xa0\xbd", "\xed\xb1\xa7 ",
		"a flag: \U0001F1E8", "\U0001F1ED ",
		"a skin: \U0001F44D", "\U0001F3FD ",
		"combined: e", "\u0301 and o", "\u0308 ",
		"right to left: \u05e9\u05dc\u05d5\u05dd \u0639\u0644", "\u064a\u0643\u0645 ",
		"Chinese: \xe6\xbc", "\xa2\xe5", "\xad\x97 ",
		"and \"quotes\", \\, <b>&amp;</b>, \u2028, \t, end.",
	)
}

func slow(s *stage) { s.write(5, strings.SplitAfter(prose(times(s.prompt, 100)), " ")...) }
func long(s *stage) { s.say(prose(times(s.prompt, 2000))) }

// prose is a text of n words, in lines of a hundred.
func prose(n int) string {
	vocabulary := strings.Fields("many streams flow into one river and the river carries what each of them brought down to the sea")
	words := make([]string, n)
	for i := range words {
		words[i] = vocabulary[i%len(vocabulary)]
		if i > 0 && i%100 == 0 {
			words[i] = "\n" + words[i]
		}
	}
	return strings.Join(words, " ")
}

// clock says the time again and again, so a reader knows how long each word was on its
// way. A late word does not delay the next one: otherwise clocks that were held up
// together would go on in step.
func clock(s *stage) {
	key, next := s.id("text"), time.Now()
	for range times(s.prompt, 100) {
		next = next.Add(s.pace)
		if !s.wait(time.Until(next)) {
			return
		}
		s.b.MessageDelta(key, strconv.FormatInt(time.Now().UnixNano(), 10)+" ")
	}
	s.b.MessageEnd(key)
}

// times reads how many words there are to be: the first number from 1 to 10,000 in the
// prompt, or else byDefault.
func times(prompt string, byDefault int) int {
	for word := range strings.FieldsSeq(prompt) {
		if n, err := strconv.Atoi(strings.Trim(word, ",.:;!?")); err == nil && n > 0 && n <= 10_000 {
			return n
		}
	}
	return byDefault
}
