package replaytest

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// StepsAreModelCalls holds turns to what a step and the final output are. A step is one call of the
// model: no text and no reasoning begins in it after each of its calls has a result. The final output
// has no text from before the last result, unless the turn has none after it.
func StepsAreModelCalls(t testing.TB, name string, turns [][]trace.Record) {
	t.Helper()
	for i, records := range turns {
		s := modelCalls{calls: map[string]bool{}, results: map[string]bool{}, begun: map[string]int{}, texts: map[string]string{}}
		for _, r := range records {
			if r.Actor == trace.Agent || r.Actor == trace.Gateway {
				s.take(r.Payload)
			}
		}
		for _, problem := range s.problems {
			t.Errorf("%s, turn %d: %s", name, i+1, problem)
		}
	}
}

// modelCalls is what was seen of a turn.
type modelCalls struct {
	calls, results map[string]bool // of the step
	begun          map[string]int  // the results of the turn before each part began
	texts          map[string]string
	n              int // results of the turn
	problems       []string
}

func (s *modelCalls) take(p trace.Payload) {
	switch p := p.(type) { //nolint:gochecksumtype // the others are neither calls nor texts
	case trace.Step:
		s.calls, s.results = map[string]bool{}, map[string]bool{}
	case trace.ToolCallStart:
		s.calls[p.ToolCallID] = true
	case trace.ToolCall:
		s.calls[p.ToolCallID] = true
	case trace.ToolResult:
		s.results[p.ToolCallID] = true
		s.n++
	case trace.MessageStart:
		s.begins(p.Part)
	case trace.ThoughtStart:
		s.begins(p.Part)
	case trace.Message:
		if s.texts[p.Part] = p.Text; p.Superseded {
			delete(s.texts, p.Part)
		}
	case trace.Stop:
		s.stop(p.FinalOutput)
	}
}

func (s *modelCalls) begins(part string) {
	s.begun[part] = s.n
	open := len(s.calls) == 0
	for id := range s.calls {
		open = open || !s.results[id]
	}
	if !open {
		s.problems = append(s.problems, "the part "+part+" begins in a step in which every call has its result")
	}
}

func (s *modelCalls) stop(final string) {
	last := 0
	for part := range s.texts {
		last = max(last, s.begun[part])
	}
	for part, text := range s.texts {
		if s.begun[part] < last && strings.TrimSpace(text) != "" && strings.Contains(final, text) {
			s.problems = append(s.problems, "the final output "+final+" has a text from before a result: "+text)
		}
	}
}
