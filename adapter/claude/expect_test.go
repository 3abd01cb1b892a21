package claude_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// expectation is what a turn amounts to, told by those who made the recording.
type expectation struct {
	Text      []string                       `json:"text"`
	Reasoning []string                       `json:"reasoning"`
	Tools     map[string]string              `json:"tools"`
	Approvals map[string]string              `json:"approvals"`
	Questions map[string]string              `json:"questions"`
	Subagents map[string]subagentExpectation `json:"subagents"`
	Outcome   string                         `json:"outcome"`
}

type subagentExpectation struct {
	Text      []string          `json:"text"`
	Reasoning []string          `json:"reasoning"`
	Tools     map[string]string `json:"tools"`
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		var want []expectation
		for line := range bytes.Lines(recording) {
			var l struct {
				Expect *expectation `json:"expect"`
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			if l.Expect != nil {
				want = append(want, *l.Expect)
			}
		}
		got := recordings().Play(t, recording).Turns
		if len(want) == 0 || len(got) != len(want) {
			t.Errorf("%s has %d turns, want %d", name, len(got), len(want))
			continue
		}
		subagents := map[string]subagentExpectation{}
		for i, records := range got {
			sum := summarize(replaytest.Events(records), subagents)
			for id := range want[i].Subagents {
				delete(sum.Tools, id) // told again in the turn of its report
			}
			expected := want[i]
			expected.Subagents = nil
			if d := cmp.Diff(normal(expected), normal(sum)); d != "" {
				t.Errorf("%s, turn %d (-want +got):\n%s", name, i+1, d)
			}
			for id, sub := range want[i].Subagents {
				if d := cmp.Diff(sub, subagents[id]); d != "" {
					t.Errorf("%s, the sub-agent of %s (-want +got):\n%s", name, id, d)
				}
			}
		}
	}
}

// normal joins texts: where a retry goes on, one block is two parts.
func normal(e expectation) expectation {
	e.Text = []string{strings.Join(e.Text, "")}
	e.Reasoning = []string{strings.Join(e.Reasoning, "")}
	for _, m := range []*map[string]string{&e.Tools, &e.Approvals, &e.Questions} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	return e
}

// summarize tells what a turn amounts to; sub-agents are gathered over turns.
func summarize(events []trace.Event, subagents map[string]subagentExpectation) expectation {
	e := expectation{Tools: map[string]string{}, Approvals: map[string]string{}, Questions: map[string]string{}}
	asked := map[string]string{}
	for _, ev := range events {
		if id, sub := ev.Actor.SubagentCall(); sub {
			subagents[id] = subagents[id].add(ev.Payload)
			continue
		}
		switch p := ev.Payload.(type) {
		case trace.Message:
			if !p.Superseded {
				e.Text = append(e.Text, p.Text)
			}
		case trace.Thought:
			if !p.Superseded {
				e.Reasoning = append(e.Reasoning, p.Text)
			}
		case trace.ToolResult:
			e.Tools[p.ToolCallID] = string(p.Status)
		case trace.PermissionResponse:
			if p.Outcome == trace.Selected {
				e.Approvals[p.RequestID] = map[bool]string{true: "approved", false: "denied"}[p.Allowed()]
			}
		case trace.Question:
			asked[p.QuestionID] = p.Text
		case trace.Answer:
			if p.Outcome == trace.Selected {
				e.Questions[asked[p.QuestionID]] = strings.Join(p.Values, ", ")
			}
		case trace.Stop:
			e.Outcome = string(p.Outcome)
		}
	}
	return e
}

func (s subagentExpectation) add(p trace.Payload) subagentExpectation {
	switch p := p.(type) {
	case trace.Message:
		s.Text = append(s.Text, p.Text)
	case trace.Thought:
		s.Reasoning = append(s.Reasoning, p.Text)
	case trace.ToolResult:
		s.Tools = maps.Clone(s.Tools)
		if s.Tools == nil {
			s.Tools = map[string]string{}
		}
		s.Tools[p.ToolCallID] = string(p.Status)
	}
	return s
}
