package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// stage is where a script plays: one turn. A stopped turn or a failure sets err. From
// then on the methods do nothing, so no script has to look.
type stage struct {
	*session
	ctx    context.Context //nolint:containedctx // the turn's
	b      *trace.Builder
	prompt string

	mode, model string // those with which the turn began
	ids         int    // how many ids were made
	err         error
}

// id makes an id that is unique in the session, restarts included.
func (s *stage) id(what string) string {
	s.ids++
	return fmt.Sprintf("%s_%d_%d", what, len(s.earlier)+1, s.ids)
}

// waitPaces waits for some paces, and reports whether the script goes on.
func (s *stage) waitPaces(paces int) bool { return s.wait(time.Duration(paces) * s.pace) }

func (s *stage) wait(d time.Duration) bool {
	if s.err == nil && d > 0 {
		select {
		case <-s.ctx.Done():
		case <-time.After(d):
		}
	}
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// say says a text word by word.
func (s *stage) say(text string) { s.write(1, strings.SplitAfter(text, " ")...) }

// next says a text in a new step.
func (s *stage) next(text string) {
	s.step()
	s.say(text)
}

func (s *stage) step() {
	if s.err == nil {
		s.b.StepStart(trace.Step{})
	}
}

// write says a text in pieces, with some paces before each.
func (s *stage) write(paces int, pieces ...string) {
	key := s.id("text")
	for _, piece := range pieces {
		if !s.waitPaces(paces) {
			return
		}
		s.b.MessageDelta(key, piece)
	}
	s.b.MessageEnd(key)
}

// reason thinks a text word by word.
func (s *stage) reason(text string) {
	key := s.id("thought")
	for word := range strings.SplitAfterSeq(text, " ") {
		if !s.waitPaces(1) {
			return
		}
		s.b.ThoughtDelta(key, word)
	}
	s.b.ThoughtEnd(key, "")
}

// emit writes events, with a pause before each.
func (s *stage) emit(events ...trace.Payload) {
	for _, e := range events {
		if !s.waitPaces(1) {
			return
		}
		s.b.Emit(e)
	}
}

// under plays as the sub-agent of a call.
func (s *stage) under(callID string, play func()) {
	own := s.b
	s.b = own.Under(callID)
	play()
	s.b = own
}
