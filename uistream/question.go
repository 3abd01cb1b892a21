package uistream

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file translates questions.

// AskUser is the name of the client tool that a question is put as.
const AskUser = "AskUser"

// A question and a call of the agent may have the same id; the later one of
// the two gets a suffix.
const (
	questionSuffix = "~ask"
	callSuffix     = "~call"
)

// QuestionID is the id of the question behind a call of [AskUser].
func QuestionID(toolCallID string) string {
	for strings.HasSuffix(toolCallID, questionSuffix) {
		toolCallID = strings.TrimSuffix(toolCallID, questionSuffix)
	}
	return toolCallID
}

// question is a question to a person.
type question struct {
	asked
	what trace.Question
}

// question takes a question, which is shown when the turn pauses on it.
func (t *Translator) question(p trace.Question) {
	if _, ok := t.questions[p.QuestionID]; ok {
		return
	}
	q := &question{what: p}
	put(&t.questions, p.QuestionID, q)
	t.questioned = append(t.questioned, q)
}

// askQuestions shows questions, each as a call that the client answers.
func (t *Translator) askQuestions(all []*question) {
	own := false
	for _, q := range all {
		if !t.isCall(q) && !own {
			own = true
			t.ownStep()
		}
		t.showQuestion(q)
	}
}

// isCall reports whether the question is a call of the app's own, which the client shows
// already and answers by the output of the call.
func (t *Translator) isCall(q *question) bool {
	c := t.calls[q.what.ToolCallID]
	return c != nil && c.form.Unmarked
}

// byClient reports whether a question waits for the output of a call.
func (t *Translator) byClient(c *call) bool {
	return slices.ContainsFunc(t.questioned, func(q *question) bool { return !q.done && t.isCall(q) && t.calls[q.what.ToolCallID] == c })
}

func (t *Translator) showQuestion(q *question) {
	p := q.what
	if t.isCall(q) {
		t.surface(t.calls[p.ToolCallID])
		q.id, q.step = p.ToolCallID, max(t.steps, 1)
		return
	}
	if q.shown() { // it stands above, where it cannot be answered any more
		t.emit(ToolOutputError{ToolCallID: q.id, ErrorText: "It is asked again below.", Form: clientForm()})
		q.id += questionSuffix
	} else {
		q.id = p.QuestionID
	}
	for t.calls[q.id] != nil {
		q.id += questionSuffix
	}
	q.step = t.steps
	t.sayRequest(p.QuestionID, questionSentence(p))
	input := quote.JSON(struct {
		QuestionID string         `json:"question_id"`
		Header     string         `json:"header,omitempty"`
		Question   string         `json:"question"`
		Choices    []trace.Choice `json:"choices,omitempty"`
		Multiple   bool           `json:"multiple,omitempty"`
	}{p.QuestionID, p.Header, p.Text, p.Choices, p.Multiple})
	t.emit(ToolInputAvailable{ToolCallID: q.id, ToolName: AskUser, Input: input, Form: clientForm()})
	if t.options.Domain.wants("question") {
		t.emit(questionData(p, nil))
	}
}

// questionData is a question as a data part, with its answer once it has one.
func questionData(p trace.Question, a *trace.Answer) Data {
	data := struct {
		QuestionID string                  `json:"questionId"`
		Header     string                  `json:"header,omitempty"`
		Text       string                  `json:"text"`
		Options    []string                `json:"options,omitempty"`
		Choices    []trace.Choice          `json:"choices,omitempty"`
		Multiple   bool                    `json:"multiple,omitempty"`
		Outcome    trace.PermissionOutcome `json:"outcome,omitempty"`
		Answer     []string                `json:"answer,omitempty"`
	}{QuestionID: p.QuestionID, Header: p.Header, Text: p.Text, Choices: p.Choices, Multiple: p.Multiple}
	for _, c := range p.Choices {
		data.Options = append(data.Options, c.Label)
	}
	if a != nil {
		data.Outcome, data.Answer = a.Outcome, a.Values
	}
	return Data{Name: "question", ID: p.QuestionID, Value: quote.JSON(data)}
}

func (t *Translator) answer(p trace.Answer) {
	q, ok := t.questions[p.QuestionID]
	if !ok || q.done {
		return
	}
	if !q.shown() { // answered by another way before it was its turn
		t.needStep()
		t.showQuestion(q)
	}
	q.done = true
	defer t.answeredOne(p.QuestionID)
	if t.options.Domain.wants("question") {
		t.emit(questionData(q.what, &p))
	}
	if t.isCall(q) { // the result of the call tells it
		return
	}
	t.asked = true
	output := quote.Append(nil, strings.Join(p.Values, ", "))
	if q.what.Multiple {
		output = quote.JSON(append([]string{}, p.Values...))
	}
	if p.Outcome == trace.Selected {
		t.answered(p, ToolOutputAvailable{ToolCallID: q.id, Output: output, Form: clientForm()})
	} else {
		t.answered(p, ToolOutputError{ToolCallID: q.id, ErrorText: "The question was not answered.", Form: clientForm()})
	}
}

// settleQuestions ends what nobody will answer in this message.
func (t *Translator) settleQuestions(why string) {
	t.questioned = slices.DeleteFunc(t.questioned, func(q *question) bool { return q.done })
	for _, q := range t.questioned {
		if !q.shown() {
			continue
		}
		q.done = true
		if !t.isCall(q) {
			t.asked = true
			t.emit(ToolOutputError{ToolCallID: q.id, ErrorText: why, Form: clientForm()})
		}
	}
}

func questionSentence(p trace.Question) string {
	text := cmp.Or(strings.TrimSpace(p.Text), strings.TrimSpace(p.Header), "The agent asks for an answer.")
	labels := make([]string, 0, len(p.Choices))
	for _, c := range p.Choices {
		labels = append(labels, c.Label)
	}
	return quote.Visible(text + choices(labels))
}
