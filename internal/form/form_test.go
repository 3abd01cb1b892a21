package form_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/trace"
)

// parsed reads a form from JSON.
func parsed(t *testing.T, text string) form.Form {
	t.Helper()
	var f form.Form
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

const (
	several = `{"message":"Who are you?","requestedSchema":{"required":["age"],"properties":{
		"age":{"type":"integer","title":"How old"},
		"color":{"type":"string","description":"The color of your eyes","oneOf":[{"const":"b","title":"Blue","description":"as the sky"},{"const":"g"}]},
		"sure":{"type":"boolean"},
		"tags":{"type":"array","items":{"enum":["x","y"]}}}}}`
	page = `{"message":"Log in.","url":"https://example.com"}`
)

func TestFieldsBecomeQuestionsInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	want := []trace.Question{
		{Header: "How old", Text: "Who are you?\nHow old"},
		{Header: "color", Text: "Who are you?\nThe color of your eyes", Choices: []trace.Choice{{Label: "Blue", Description: "as the sky"}, {Label: "g"}}},
		{Header: "sure", Text: "Who are you?\nsure", Choices: []trace.Choice{{Label: "Yes"}, {Label: "No"}}},
		{Header: "tags", Text: "Who are you?\ntags", Choices: []trace.Choice{{Label: "x"}, {Label: "y"}}, Multiple: true},
	}
	if d := cmp.Diff(want, parsed(t, several).Questions()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAnAddressIsAQuestionOfItsOwn(t *testing.T) {
	t.Parallel()
	f := parsed(t, page)
	f.Yes = "Done"
	want := []trace.Question{{Text: "Log in.\n\nhttps://example.com", Choices: []trace.Choice{{Label: "Done"}, {Label: "No"}}}}
	if d := cmp.Diff(want, f.Questions()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestAReplyReadsBackAsTheAnswers: what is recorded is what was answered.
func TestAReplyReadsBackAsTheAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, form string
		answers    [][]string // nil for a question without an answer
		want       string
		back       [][]string
	}{
		{"all fields", several, [][]string{{"7"}, {"Blue"}, {"No"}, {"x", "y"}}, `{"action":"accept","content":{"age":7,"color":"b","sure":false,"tags":["x","y"]}}`, nil},
		{"an optional field is left out", several, [][]string{{"7"}, nil, {"Yes"}, {}}, `{"action":"accept","content":{"age":7,"sure":true,"tags":[]}}`, nil},
		{"a required field is left out", several, [][]string{nil, {"Blue"}, nil, nil}, `{"action":"cancel","content":null}`, [][]string{nil, nil, nil, nil}},
		{"a text where a number is wanted", several, [][]string{{"old"}, {"grey"}, nil, nil}, `{"action":"accept","content":{"age":"old","color":"grey"}}`, nil},
		{"no field has an answer", `{"requestedSchema":{"properties":{"a":{"type":"string"}}}}`, [][]string{nil}, `{"action":"cancel","content":null}`, nil},
		{"the address was opened", page, [][]string{{"Yes"}}, `{"action":"accept","content":{}}`, nil},
		{"the address was declined", page, [][]string{{"No"}}, `{"action":"decline","content":null}`, nil},
		{"the address has no answer", page, [][]string{nil}, `{"action":"cancel","content":null}`, nil},
	} {
		f := parsed(t, c.form)
		var answers []trace.Answer
		for _, values := range c.answers {
			outcome := trace.Selected
			if values == nil {
				outcome = trace.Canceled
			}
			answers = append(answers, trace.Answer{Outcome: outcome, Values: values})
		}
		action, content := f.Reply(answers)
		reply, err := json.Marshal(map[string]any{"action": action, "content": content})
		if err != nil {
			t.Fatal(err)
		}
		if string(reply) != c.want {
			t.Errorf("%s: the reply is %s, want %s", c.name, reply, c.want)
		}
		if c.back == nil {
			c.back = c.answers
		}
		if d := cmp.Diff(c.back, f.Answers(reply)); d != "" {
			t.Errorf("%s: read back (-want +got):\n%s", c.name, d)
		}
	}
}

func TestAReplyOfAnotherFormAnswersNothing(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{``, `null`, `[]`, `{"action":7}`, `{"content":{"a":"x"}}`} {
		f := parsed(t, `{"requestedSchema":{"properties":{"a":{"type":"string"}}}}`)
		if d := cmp.Diff([][]string{nil}, f.Answers(json.RawMessage(reply))); d != "" {
			t.Errorf("%s (-want +got):\n%s", reply, d)
		}
	}
}
