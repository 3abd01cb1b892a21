package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// failure is a sentence that a turn fails with.
type failure string

func (f failure) Error() string { return string(f) }

var errInterrupted = errors.New("the user interrupted the turn")

// stage is where a script plays: one turn.
type stage struct {
	ctx     context.Context //nolint:containedctx // the turn's
	b       *trace.Builder
	host    agent.Host
	pace    time.Duration
	prompt  string
	turn    int
	earlier []string
	n       int // ids so far
}

// id makes an id that is unique in the session, restarts included.
func (s *stage) id(what string) string {
	s.n++
	return fmt.Sprintf("%s_%d_%d", what, s.turn, s.n)
}

// rest waits for some paces; it is also where a script notices that it is to stop.
func (s *stage) rest(paces int) error {
	return s.wait(time.Duration(paces) * s.pace)
}

func (s *stage) wait(d time.Duration) error {
	if d <= 0 {
		return s.ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-timer.C:
		return nil
	}
}

// in plays a beat as the sub-agent of a call.
func (s *stage) in(callID string, play beat) error {
	mine := s.b
	s.b = mine.Under(callID)
	defer func() { s.b = mine }()
	return play(s)
}

func nextStep(s *stage) error {
	s.b.StepStart(trace.Step{})
	return nil
}

func say(text string) beat { return slowly(1, text) }

// slowly says a text with some paces before each word.
func slowly(paces int, text string) beat {
	return func(s *stage) error {
		key := s.id("text")
		for _, word := range strings.SplitAfter(text, " ") {
			if err := s.rest(paces); err != nil {
				return err
			}
			s.b.MessageDelta(key, word)
		}
		s.b.MessageEnd(key)
		return nil
	}
}

func reason(text string) beat {
	return func(s *stage) error {
		key := s.id("thought")
		for _, word := range strings.SplitAfter(text, " ") {
			if err := s.rest(1); err != nil {
				return err
			}
			s.b.ThoughtDelta(key, word)
		}
		s.b.ThoughtEnd(key, "")
		return nil
	}
}

// tell writes an event after a pause.
func tell(p trace.Payload) beat {
	return func(s *stage) error {
		if err := s.rest(1); err != nil {
			return err
		}
		s.b.Emit(p)
		return nil
	}
}

// raw makes JSON of a value that always encodes.
func raw(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return out
}
