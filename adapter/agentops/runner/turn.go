package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// turn makes records of what a runner says of one prompt.
type turn struct {
	prompt wire.RunnerPrompt
	b      *trace.Builder
	names  []string    // the runner's turns that belong to it
	stop   bool        // the runner was asked to stop
	end    *trace.Stop // what the runner has said of the outcome
	asked  map[string]agentkit.Asked
	used   trace.Usage // as far as the runner has told

	// Of the newest try: a prompt is sent again to a runner that has lost it.
	try   int
	heard int // frames of the prompt so far
	parts int // parts of text: text after a tool is another
	part  string
	calls map[string]callState

	text strings.Builder // all text, to know a last word that repeats some of it
}

// callState says how much of a tool call is on record.
type callState int

const (
	callNone callState = iota
	callBegun
	callRuns // the input is on record
	callOver
)

// The bounds of a turn: bytes of text that are kept, calls, questions that wait.
const (
	mostText  = 16 << 20
	mostCalls = 10_000
	mostAsks  = 32
)

func newTurn(prompt wire.RunnerPrompt, b *trace.Builder) *turn {
	b.StepAfterResults()
	return &turn{prompt: prompt, b: b, try: 1, calls: map[string]callState{}, asked: map[string]agentkit.Asked{}}
}

// startNextTry begins the next try: the runner starts from the beginning.
func (t *turn) startNextTry() []agent.Effect {
	t.endText()
	for native, state := range t.calls {
		if state != callOver {
			t.b.ToolResult(trace.ToolResult{ToolCallID: t.callID(native), Status: trace.ToolCanceled, Error: "The runner was lost before the result came."})
		}
	}
	clear(t.calls)
	t.try++
	t.parts, t.heard, t.end = 0, 0, nil
	for _, a := range t.asked {
		a.Cancel("")
	}
	return t.withdraw()
}

// named notes a name of the turn.
func (t *turn) named(name string) {
	if len(t.names) < mostPast && !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
}

// say adds to the text.
func (t *turn) say(delta string) {
	if delta == "" {
		return
	}
	if t.part == "" {
		t.parts++
		t.part = fmt.Sprintf("%d.%d", t.try, t.parts)
		if t.try > 1 {
			t.b.MessageRepeats(t.part, fmt.Sprintf("%d.%d", t.try-1, t.parts))
		}
	}
	if t.text.Len() < mostText {
		t.text.WriteString(delta)
	}
	if t.end != nil {
		t.end.FinalOutput = "" // the text that was final is not the last
	}
	t.b.MessageDelta(t.part, delta)
}

func (t *turn) endText() {
	if t.part != "" {
		t.b.MessageEnd(t.part)
		t.part = ""
	}
}

// finalize completes the last text and notes the outcome. Tools may end later.
func (t *turn) finalize(f wire.Finalize) {
	text := string(f.FinalText)
	switch {
	case text == "":
	case t.part != "":
		t.b.Message(t.part, text)
		t.part = ""
	case t.text.Len() < mostText && !strings.Contains(t.text.String(), text):
		t.say(text)
	}
	t.endText()
	t.end = &trace.Stop{Reason: cmp.Or(f.Reason, wire.ReasonEndTurn), Outcome: trace.OutcomeCompleted, FinalOutput: text}
	switch f.Reason {
	case wire.ReasonError:
		t.end.Outcome, t.end.Error = trace.OutcomeFailed, cmp.Or(f.Error, "Turn failed")
	case wire.ReasonCanceled:
		t.end.Outcome, t.end.Error = trace.OutcomeCanceled, f.Error
	}
}

// callID is the id of a call on record. Every try has calls of its own.
func (t *turn) callID(native string) string {
	if t.try > 1 {
		return fmt.Sprintf("%s#%d", native, t.try)
	}
	return native
}

// tool shows a call. The first frame of a call may have any status, and the input may come
// late.
func (t *turn) tool(f wire.ToolUpdate, tools toolkind.Table) {
	id, state := t.callID(f.CallID), t.calls[f.CallID]
	if state == callOver || state == callNone && len(t.calls) >= mostCalls {
		return
	}
	if state == callNone {
		state = callBegun
		tool := tools.Classify(f.ToolName, nil)
		t.b.ToolCallStart(trace.ToolCallStart{ToolCallID: id, RawName: f.ToolName, Name: tool.Name, ToolKind: tool.Kind})
	}
	failed := f.Status == wire.ToolError
	ends := failed || f.Status == wire.ToolCompleted
	if state == callBegun && (ends || f.Status == wire.ToolRunning && len(f.Args) > 0) {
		state = callRuns
		input := f.Args
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		tool := tools.Classify(f.ToolName, input)
		t.b.ToolCall(trace.ToolCall{
			ToolCallID: id, RawName: f.ToolName, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations,
		})
	}
	switch {
	case failed:
		t.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolFailed, Output: f.Result, Error: cmp.Or(f.Error, "Tool execution failed")})
	case ends:
		t.b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: f.Result})
	}
	if ends {
		state = callOver
	}
	t.calls[f.CallID] = state
}

var errQuestions = errors.New("runner: a question was not asked, because too many wait")

// question asks the user. A runner that comes back repeats its open questions.
func (t *turn) question(f wire.Question) ([]agent.Effect, error) {
	if _, open := t.asked[f.QuestionID]; open {
		return nil, nil
	}
	if len(t.asked) >= mostAsks {
		return nil, errQuestions
	}
	q := trace.Question{QuestionID: f.QuestionID, Text: f.Text}
	for _, o := range f.Options {
		q.Choices = append(q.Choices, trace.Choice{Label: o})
	}
	a := agentkit.Ask(t.b, f.QuestionID, []trace.Question{q}, func(answers []trace.Answer) json.RawMessage { return answer(f.QuestionID, answers) })
	t.asked[f.QuestionID] = a
	return []agent.Effect{a.Effect}, nil
}

// answer is what the runner gets for a question.
func answer(id string, answers []trace.Answer) json.RawMessage {
	text := wire.Expired
	if len(answers) == 1 && answers[0].Outcome == trace.Selected {
		text = strings.Join(answers[0].Values, ", ")
	}
	return frame(wire.Answer{QuestionID: id, Answer: wire.AnswerValue{Text: text}})
}

// answered takes the answer to a question. A recording gets the answer on record here.
func (t *turn) answered(f wire.Answer) {
	if a, open := t.asked[f.QuestionID]; open {
		delete(t.asked, f.QuestionID)
		values := []string{f.Answer.String()}
		if values[0] == wire.Expired {
			values = nil
		}
		a.Answer([][]string{values}, "")
	}
}

// withdraw ends the wait for all answers.
func (t *turn) withdraw() (effects []agent.Effect) {
	for native := range t.asked {
		effects = append(effects, agent.Withdraw{Native: native})
	}
	clear(t.asked)
	return effects
}
