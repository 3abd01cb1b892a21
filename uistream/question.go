package uistream

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// AskUser is the name of the client tool that a question is put as.
const AskUser = "AskUser"

// A question and a call of the agent may have the same id; the later one of
// the two gets a suffix.
const (
	questionSuffix = "~ask"
	callSuffix     = "~call"
)

// QuestionID is the id of the question behind a call of [AskUser].
func QuestionID(toolCallID string) string { return strings.TrimSuffix(toolCallID, questionSuffix) }

// question is a question to a person.
type question struct {
	callID   string // how the client names it
	multiple bool
	done     bool
}

// ask puts a question as a call that the client answers, in a step of its own
// unless that would tear a part that is growing.
func (t *Translator) ask(p trace.Question) {
	if _, ok := t.questions[p.QuestionID]; ok {
		return
	}
	q := &question{callID: p.QuestionID, multiple: p.Multiple}
	if _, taken := t.calls[p.QuestionID]; taken {
		q.callID += questionSuffix
	}
	t.questions[p.QuestionID] = q
	t.questioned = append(t.questioned, q)
	alone := t.writing == 0 && len(t.open) == 0
	if alone {
		t.closeStep()
	}
	t.say("ask-"+p.QuestionID, questionSentence(p))
	input := marshal(struct {
		QuestionID string         `json:"question_id"`
		Header     string         `json:"header,omitempty"`
		Question   string         `json:"question"`
		Choices    []trace.Choice `json:"choices,omitempty"`
		Multiple   bool           `json:"multiple,omitempty"`
	}{p.QuestionID, p.Header, p.Text, p.Choices, p.Multiple})
	if t.options.Letter {
		t.emit(Data{Name: "question", ID: p.QuestionID, Value: input})
	} else {
		t.emit(ToolInputAvailable{ToolCallID: q.callID, ToolName: AskUser, Input: input, Client: true})
	}
	if alone {
		t.closeStep()
	}
}

func (t *Translator) answer(p trace.Answer) {
	q, ok := t.questions[p.QuestionID]
	if !ok || q.done {
		return
	}
	q.done = true
	if t.options.Letter {
		return
	}
	t.asked = true
	switch {
	case p.Outcome != trace.Selected:
		t.emit(ToolOutputError{ToolCallID: q.callID, ErrorText: "The question was not answered.", Client: true})
	case q.multiple:
		t.emit(ToolOutputAvailable{ToolCallID: q.callID, Output: marshal(append([]string{}, p.Values...)), Client: true})
	default:
		t.emit(ToolOutputAvailable{ToolCallID: q.callID, Output: appendString(nil, strings.Join(p.Values, ", ")), Client: true})
	}
}

// settleQuestions ends what nobody will answer in this message.
func (t *Translator) settleQuestions(why string) {
	for _, q := range t.questioned {
		if q.done {
			continue
		}
		q.done = true
		if !t.options.Letter {
			t.asked = true
			t.emit(ToolOutputError{ToolCallID: q.callID, ErrorText: why, Client: true})
		}
	}
}

func questionSentence(p trace.Question) string {
	text := strings.TrimSpace(p.Text)
	if text == "" {
		text = strings.TrimSpace(p.Header)
	}
	if text == "" {
		text = "The agent asks for an answer."
	}
	labels := make([]string, 0, len(p.Choices))
	for _, c := range p.Choices {
		labels = append(labels, c.Label)
	}
	return text + choices(labels)
}
