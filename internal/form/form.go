// Package form puts a form to the user. The Model Context Protocol and the Agent Client
// Protocol call a form an elicitation: a JSON schema, whose fields become questions. A
// form without fields has one question, whether the user agrees.
package form

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Form is what an agent or a server wants to know.
type Form struct {
	Message string `json:"message"`
	// URL is an address to open, or "".
	URL    string `json:"url"`
	Schema struct {
		Properties map[string]Field `json:"properties"`
		Required   []string         `json:"required"`
	} `json:"requestedSchema"`
	// Yes and No are the answers to a form without fields; "Yes" and "No" if empty.
	Yes string `json:"-"`
	No  string `json:"-"`
}

// The actions of a reply.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// names are the fields in the order of their questions.
func (f Form) names() []string { return slices.Sorted(maps.Keys(f.Schema.Properties)) }

func (f Form) yes() string { return cmp.Or(f.Yes, yes) }
func (f Form) no() string  { return cmp.Or(f.No, no) }

// Questions returns the questions without their ids.
func (f Form) Questions() []trace.Question {
	names := f.names()
	if len(names) == 0 {
		return []trace.Question{{
			Text:    strings.TrimSpace(f.Message + "\n\n" + f.URL),
			Choices: []trace.Choice{{Label: f.yes()}, {Label: f.no()}},
		}}
	}
	all := make([]trace.Question, len(names))
	for i, name := range names {
		field := f.Schema.Properties[name]
		title := cmp.Or(field.Title, name)
		about := field.Description
		if len(names) > 1 { // else the message is about this field
			about = cmp.Or(about, title)
		}
		all[i] = trace.Question{Header: title, Text: strings.TrimSpace(f.Message + "\n" + about), Choices: field.choices(), Multiple: field.Type == "array"}
	}
	return all
}

// Reply returns the action and the content of the reply. A form is canceled if a field
// has no answer that is required, or if no field has one.
func (f Form) Reply(answers []trace.Answer) (action string, content map[string]any) {
	content = map[string]any{}
	names := f.names()
	if len(names) == 0 {
		switch {
		case len(answers) == 0 || answers[0].Outcome != trace.Selected:
			return Cancel, nil
		case slices.Contains(answers[0].Values, f.no()):
			return Decline, nil
		}
		return Accept, content
	}
	for i, name := range names {
		switch {
		case i < len(answers) && answers[i].Outcome == trace.Selected:
			content[name] = f.Schema.Properties[name].value(answers[i].Values)
		case slices.Contains(f.Schema.Required, name):
			return Cancel, nil
		}
	}
	if len(content) == 0 {
		return Cancel, nil
	}
	return Accept, content
}

// Answers reads a reply: the values that answer each question. A question without an
// answer has none.
func (f Form) Answers(reply json.RawMessage) [][]string {
	var r struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	_ = json.Unmarshal(reply, &r) // a reply of another form answers nothing
	names := f.names()
	if len(names) == 0 {
		return [][]string{map[string][]string{Accept: {f.yes()}, Decline: {f.no()}}[r.Action]}
	}
	values := make([][]string, len(names))
	for i, name := range names {
		if v, ok := r.Content[name]; ok && r.Action == Accept {
			values[i] = f.Schema.Properties[name].words(v)
		}
	}
	return values
}
