package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// question is a question of the agent.
type question struct {
	ID       string   `json:"id"`
	Header   string   `json:"header"`
	Text     string   `json:"question"`
	Options  []choice `json:"options"`
	multiple bool
}

type choice struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// userInput takes questions of the agent itself.
func (a *ask) userInput(questions []question) {
	a.questions = questions
	a.result = func(values [][]string) raw {
		answers := object{}
		for i, v := range values {
			if v != nil {
				answers[questions[i].ID] = object{"answers": v}
			}
		}
		return encode(object{"answers": answers})
	}
}

// elicitation is what an MCP server asks: a form, a page to visit, or whether one of its
// tools may run.
type elicitation struct {
	Server  string `json:"serverName"`
	Message string `json:"message"`
	Mode    string `json:"mode"`
	URL     string `json:"url"`
	Schema  struct {
		Properties map[string]property `json:"properties"`
	} `json:"requestedSchema"`
	Meta struct {
		Kind    string `json:"codex_approval_kind"`
		Persist raw    `json:"persist"`
		Tool    string `json:"tool_name"`
		Params  raw    `json:"tool_params"`
	} `json:"_meta"`
}

// property is a field of a form.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []titled `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []titled `json:"anyOf"`
	} `json:"items"`
}

type titled struct {
	Const string `json:"const"`
}

// elicit takes what an MCP server asks. It returns the call that a permission is for.
func (d *Decoder) elicit(c *turn, a *ask, e elicitation) trace.ToolCall {
	if e.Meta.Kind == "mcp_tool_call" {
		var persist []string
		if json.Unmarshal(orNull(e.Meta.Persist), &persist) != nil {
			var one string
			_ = json.Unmarshal(e.Meta.Persist, &one) // another form offers nothing
			persist = []string{one}
		}
		a.options = toolGrants(persist)
		call := d.classify("mcp-"+string(a.native), "mcp__"+e.Server+"__"+e.Meta.Tool, orNull(e.Meta.Params))
		call.Title = orElse(e.Message, call.Title)
		for id, r := range c.running {
			if r.RawName == call.RawName && bytes.Equal(canonical(r.Input), canonical(call.Input)) {
				call.ToolCallID = id
			}
		}
		return call
	}
	names := slices.Sorted(maps.Keys(e.Schema.Properties))
	for _, name := range names {
		a.questions = append(a.questions, e.Schema.Properties[name].question(name, e))
	}
	if len(names) == 0 { // a page to visit, or a plain yes or no
		text := e.Message
		if e.URL != "" {
			text += "\n" + e.URL
		}
		a.questions = []question{{Header: e.Server, Text: text, Options: []choice{{Label: yes}, {Label: no}}}}
	}
	a.result = func(values [][]string) raw { return e.result(names, values) }
	return trace.ToolCall{}
}

const (
	yes = "Yes"
	no  = "No"
)

// question is a field of a form as a question.
func (p property) question(name string, e elicitation) question {
	q := question{ID: name, Header: orElse(p.Title, name), Text: e.Message + "\n" + orElse(p.Description, orElse(p.Title, name)), multiple: p.Type == "array"}
	labels := append(slices.Clone(p.Enum), p.Items.Enum...)
	for _, o := range append(slices.Clone(p.OneOf), p.Items.AnyOf...) {
		labels = append(labels, o.Const)
	}
	if p.Type == "boolean" {
		labels = []string{yes, no}
	}
	for _, l := range labels {
		q.Options = append(q.Options, choice{Label: l})
	}
	return q
}

// result is the reply to an MCP server. A form is accepted with the answers that there
// are, and canceled without any.
func (e elicitation) result(names []string, values [][]string) raw {
	content := object{}
	for i, v := range values {
		switch {
		case len(v) == 0:
		case len(names) == 0 && v[0] == no:
			return encode(object{"action": "decline"})
		case len(names) == 0:
			return encode(object{"action": "accept", "content": content})
		default:
			content[names[i]] = e.Schema.Properties[names[i]].value(v)
		}
	}
	if len(content) == 0 {
		return encode(object{"action": "cancel"})
	}
	return encode(object{"action": "accept", "content": content})
}

// value is an answer in the type of its field.
func (p property) value(v []string) any {
	switch p.Type {
	case "array":
		return v
	case "boolean":
		return v[0] == yes || v[0] == "true"
	case "number", "integer":
		if n, err := strconv.ParseFloat(v[0], 64); err == nil {
			return n
		}
	}
	return v[0]
}

// recorded are the answers in a reply that the agent got, of both forms.
func (a *ask) recorded(result raw) [][]string {
	var r struct {
		Answers map[string]struct {
			Answers []string `json:"answers"`
		} `json:"answers"`
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	_ = json.Unmarshal(orNull(result), &r) // a reply of another form answers nothing
	values := make([][]string, len(a.questions))
	for i, q := range a.questions {
		values[i] = r.Answers[q.ID].Answers
		switch v := r.Content[q.ID].(type) {
		case nil:
			if q.ID == "" {
				values[i] = []string{map[bool]string{true: yes, false: no}[r.Action == "accept"]}
			}
		case []any:
			for _, one := range v {
				values[i] = append(values[i], fmt.Sprint(one))
			}
		case bool:
			values[i] = []string{map[bool]string{true: yes, false: no}[v]}
		default:
			values[i] = []string{fmt.Sprint(v)}
		}
	}
	return values
}

// put asks the questions.
func (a *ask) put() agent.Ask {
	var all []trace.Question
	for i, q := range a.questions {
		asked := trace.Question{QuestionID: fmt.Sprintf("question-%s-%d", a.native, i+1), Header: q.Header, Text: q.Text, Multiple: q.multiple}
		for _, o := range q.Options {
			asked.Choices = append(asked.Choices, trace.Choice{Label: o.Label, Description: o.Description})
		}
		all = append(all, asked)
	}
	a.ids = a.b.Questions(all...)
	return agent.Ask{Native: string(a.native), QuestionIDs: a.ids, Reply: func(answers []trace.Answer) json.RawMessage {
		values := make([][]string, len(answers))
		for i, answer := range answers {
			if answer.Outcome == trace.Selected {
				values[i] = answer.Values
			}
		}
		return a.line(a.result(values))
	}}
}

// settle puts the answers on record; a question without one is canceled.
func (a *ask) settle(values [][]string) {
	for i, id := range a.ids {
		if i < len(values) && len(values[i]) > 0 {
			a.b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: values[i], By: "user"})
		} else {
			a.b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Canceled})
		}
	}
}
