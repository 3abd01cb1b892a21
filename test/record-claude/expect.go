//go:build unix

package main

import "github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"

// Expectation is what a right translation of a turn amounts to. It comes from
// what the model said and what the host answered, not from the agent's lines.
type Expectation struct {
	Text      []string               `json:"text"`
	Reasoning []string               `json:"reasoning,omitempty"`
	Tools     map[string]string      `json:"tools"` // id → completed, failed, denied, canceled
	Approvals map[string]string      `json:"approvals,omitempty"`
	Questions map[string]string      `json:"questions,omitempty"`
	Subagents map[string]Expectation `json:"subagents,omitempty"` // by the call that began them
	Outcome   string                 `json:"outcome"`             // completed, failed, canceled
}

// A turn gathers what happens between a prompt, or the agent's own start, and
// its result.
type turn struct {
	directive scriptedmodel.Directive
	after     int // the last request before it
	streamed  string
	approvals map[string]string
	tasks     int // background tasks that are running
}

// heed looks at a line of the agent.
func (t *turn) heed(m message) {
	if m.Type == "stream_event" && m.ParentID == nil {
		switch {
		case m.Event.Type == "message_start":
			t.streamed = ""
		case m.Event.Delta.Type == "text_delta":
			t.streamed += m.Event.Delta.Text
		}
	}
	if m.Subtype == "background_tasks_changed" {
		t.tasks = len(m.Tasks)
	}
}

func (t *turn) approve(requestID string, answer map[string]any) {
	if t.approvals == nil {
		t.approvals = map[string]string{}
	}
	t.approvals[requestID] = map[bool]string{true: "approved", false: "denied"}[answer["behavior"] == "allow"]
}

// said collects what the model answered to a directive since the turn began.
// An answer that repeats the one before it, as after an error, counts once.
func (t *turn) said(requests []scriptedmodel.Request, d scriptedmodel.Directive) (Expectation, []string) {
	e := Expectation{Text: []string{}, Tools: map[string]string{}, Outcome: "completed"}
	var calls []string
	for _, r := range requests {
		if r.Seq <= t.after || r.Kind != "answer" || r.Directive != d || r.Answer.Status != 0 {
			continue
		}
		if a := r.Answer.Text; a != "" && (len(e.Text) == 0 || e.Text[len(e.Text)-1] != a) {
			e.Text = append(e.Text, a)
			if r.Answer.Reasoning != "" {
				e.Reasoning = append(e.Reasoning, r.Answer.Reasoning)
			}
		}
		for _, c := range r.Answer.Calls {
			calls = append(calls, "toolu_"+c.ID)
			e.Tools["toolu_"+c.ID] = "completed"
		}
	}
	return e, calls
}

// An adjustment says where a turn differs from "all went well".
type adjustment func(e *Expectation, calls []string, t *turn)

func outcome(o string) adjustment { return func(e *Expectation, _ []string, _ *turn) { e.Outcome = o } }

// state is the final state of the turn's first call.
func state(s string) adjustment {
	return func(e *Expectation, calls []string, _ *turn) {
		if len(calls) > 0 {
			e.Tools[calls[0]] = s
		}
	}
}

// streamedOnly replaces the last text by what of it was streamed.
func streamedOnly(e *Expectation, _ []string, t *turn) {
	e.Text[len(e.Text)-1] = t.streamed
}

// healed says that the last text is all there is: it begins with what was
// streamed before an error, and goes on.
func healed(e *Expectation, _ []string, _ *turn) { e.Text = e.Text[len(e.Text)-1:] }

func question(text, answer string) adjustment {
	return func(e *Expectation, _ []string, _ *turn) { e.Questions = map[string]string{text: answer} }
}

// expect records what the turn that has just ended amounts to.
func (s *session) expect(adjust ...adjustment) {
	e, calls := s.turn.said(s.model.Requests(), s.turn.directive)
	e.Approvals = s.turn.approvals
	for _, a := range adjust {
		a(&e, calls, &s.turn)
	}
	s.tape.meta(map[string]any{"expect": e})
	s.next(s.turn.directive)
}

// next begins a turn.
func (s *session) next(d scriptedmodel.Directive) {
	tasks := s.turn.tasks
	s.turn = turn{directive: d, after: len(s.model.Requests()), tasks: tasks}
}
