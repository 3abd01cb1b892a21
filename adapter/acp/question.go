package acp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// question is one field of a form, or the one question of an address to open.
type question struct {
	field    string // "" for an address
	typ      string
	values   []string // what the choices stand for
	labels   []string
	optional bool
}

// property is the schema of a field.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []named  `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []named  `json:"anyOf"`
	} `json:"items"`
}

type named struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

const (
	opened   = "Done"
	declined = "Decline"
)

// elicit takes the agent's questions to the user: a form, or an address to open.
func (d *Decoder) elicit(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	var p struct {
		Message string `json:"message"`
		Call    string `json:"toolCallId"`
		URL     string `json:"url"`
		Schema  struct {
			Properties map[string]property `json:"properties"`
			Required   []string            `json:"required"`
		} `json:"requestedSchema"`
	}
	err := decodeInto(m.Params, &p)
	c := d.current(t)
	if c == nil || err != nil || p.URL == "" && len(p.Schema.Properties) == 0 {
		return []agent.Effect{agent.Send{Data: reply(m.ID, map[string]string{"action": "cancel"})}}, err
	}
	c.release("")
	a := &ask{b: c.b}
	var asked []trace.Question
	if tc := c.calls[p.Call]; tc == nil || tc.done {
		p.Call = ""
	}
	add := func(q question, shown trace.Question) {
		shown.QuestionID, shown.ToolCallID = "acp-"+string(m.ID)+"-"+strconv.Itoa(len(asked)+1), p.Call
		a.questions, asked = append(a.questions, q), append(asked, shown)
	}
	if p.URL != "" {
		add(question{}, trace.Question{Text: strings.TrimSpace(p.Message + "\n\n" + p.URL), Choices: []trace.Choice{{Label: opened}, {Label: declined}}})
	}
	for _, field := range slices.Sorted(maps.Keys(p.Schema.Properties)) {
		schema := p.Schema.Properties[field]
		q, shown := schema.question(field)
		q.optional = !slices.Contains(p.Schema.Required, field)
		if shown.Text = orElse(schema.Description, p.Message); len(p.Schema.Properties) == 1 {
			shown.Text = orElse(p.Message, schema.Description)
		}
		add(q, shown)
	}
	a.ids = c.b.Questions(asked...)
	d.theirs[string(m.ID)] = their{method: m.Method, ask: a}
	questions := a.questions
	return []agent.Effect{agent.Ask{Native: string(m.ID), QuestionIDs: a.ids, Reply: func(answers []trace.Answer) json.RawMessage {
		return reply(m.ID, formReply(questions, answers))
	}}}, nil
}

func (p property) question(field string) (question, trace.Question) {
	q := question{field: field, typ: p.Type}
	shown := trace.Question{Header: orElse(p.Title, field), Multiple: p.Type == "array"}
	for _, o := range append(p.OneOf, p.Items.AnyOf...) {
		q.values, q.labels = append(q.values, o.Const), append(q.labels, orElse(o.Title, o.Const))
		shown.Choices = append(shown.Choices, trace.Choice{Label: orElse(o.Title, o.Const), Description: o.Description})
	}
	values := append(p.Enum, p.Items.Enum...)
	if p.Type == "boolean" {
		values = []string{"Yes", "No"}
	}
	for _, v := range values {
		q.values, q.labels = append(q.values, v), append(q.labels, v)
		shown.Choices = append(shown.Choices, trace.Choice{Label: v})
	}
	return q, shown
}

// formReply encodes the answers.
func formReply(questions []question, answers []trace.Answer) any {
	content := map[string]any{}
	for i, q := range questions {
		if i >= len(answers) || answers[i].Outcome != trace.Selected {
			if q.optional {
				continue
			}
			return map[string]string{"action": "cancel"}
		}
		values := answers[i].Values
		if q.field == "" {
			if slices.Contains(values, declined) {
				return map[string]string{"action": "decline"}
			}
			continue
		}
		content[q.field] = q.value(values)
	}
	if len(content) == 0 && questions[0].field != "" {
		return map[string]string{"action": "decline"}
	}
	if questions[0].field == "" {
		return map[string]string{"action": "accept"}
	}
	return map[string]any{"action": "accept", "content": content}
}

// value makes a value of the field's type.
func (q question) value(chosen []string) any {
	values := make([]string, len(chosen))
	for i, label := range chosen {
		values[i] = label
		if at := slices.Index(q.labels, label); at >= 0 {
			values[i] = q.values[at]
		}
	}
	joined := strings.Join(values, ", ")
	switch q.typ {
	case "array":
		return values
	case "boolean":
		return strings.EqualFold(joined, "yes") || strings.EqualFold(joined, "true")
	case "integer", "number":
		if n, err := strconv.ParseFloat(strings.TrimSpace(joined), 64); err == nil {
			return n
		}
	}
	return joined
}

// answerQuestions takes the reply that was sent.
func (a *ask) answerQuestions(m jsonrpc.Message) {
	var r struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	_ = decodeInto(m.Result, &r) // a reply of another form answers nothing
	for i, q := range a.questions {
		answer := trace.Answer{QuestionID: a.ids[i], Outcome: trace.Canceled}
		value, given := r.Content[q.field]
		switch {
		case q.field == "" && r.Action == "accept":
			answer.Outcome, answer.Values = trace.Selected, []string{opened}
		case q.field == "" && r.Action == "decline":
			answer.Outcome, answer.Values = trace.Selected, []string{declined}
		case given && r.Action == "accept":
			answer.Outcome, answer.Values = trace.Selected, words(value)
		}
		a.b.Answer(answer)
	}
}

// words are a value as a person would have answered.
func words(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	out := make([]string, len(list))
	for i, v := range list {
		if s, ok := v.(string); ok {
			out[i] = s
		} else {
			out[i] = string(encode(v))
		}
	}
	return out
}
