package demo

import (
	"strconv"
	"strings"
	"time"
)

// How often clock says the time, unless the prompt says otherwise, and at most.
const (
	ticks    = 100
	maxTicks = 10_000
)

// clock says what time it is, over and over: whoever hears a word knows how long
// it was on its way. It keeps its beat: a word that was late doesn't delay the
// next, or many clocks that were held up together would go on together.
func clock(s *stage) error {
	key := s.id("text")
	next := time.Now()
	for range times(s.prompt) {
		next = next.Add(s.pace)
		if err := s.wait(time.Until(next)); err != nil {
			return err
		}
		s.b.MessageDelta(key, strconv.FormatInt(time.Now().UnixNano(), 10)+" ")
	}
	s.b.MessageEnd(key)
	return nil
}

// times reads the first number of a prompt that clock can be asked for.
func times(prompt string) int {
	for word := range strings.FieldsSeq(prompt) {
		if n, err := strconv.Atoi(strings.Trim(word, ",.:;!?")); err == nil && n > 0 && n <= maxTicks {
			return n
		}
	}
	return ticks
}
