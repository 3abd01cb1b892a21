package agui

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/trace"
)

// schema is what an answer must look like, as far as it matters for an approval. TanStack AI
// has one form for yes and another for no.
type schema struct {
	Properties           map[string]raw
	AdditionalProperties any
	OneOf                []schema
}

// allowing is what an approval may say beside yes and no.
type allowing struct{ edits, reason bool }

// approves reports whether an interrupt asks whether a call may run. Without a schema the
// answer may say everything.
func (i interrupt) approves() (may allowing, is bool) {
	switch {
	case i.ToolCallID == "":
		return may, false
	case isNull(i.Schema):
		return allowing{true, true}, i.Reason != "input_required"
	}
	var s schema
	read(i.Schema, &s)
	fields, closed := map[string]raw{}, false
	for _, form := range append(s.OneOf, s) {
		maps.Copy(fields, form.Properties)
		closed = closed || form.AdditionalProperties == false
	}
	return allowing{edits: fields["editedArgs"] != nil, reason: fields["reason"] != nil || !closed}, fields["approved"] != nil
}

// approved is the answer to an approval. An agent that takes no changes must not run the
// input that the person has changed.
func (a *ask) approved(r trace.PermissionResponse) resume {
	changed := r.Allowed() && len(r.UpdatedInput) > 0
	reason := r.Reason
	if changed && !a.may.edits {
		reason = "The user wants another input: " + string(r.UpdatedInput)
	}
	answer := map[string]any{"approved": r.Allowed() && (!changed || a.may.edits)}
	switch {
	case r.Outcome != trace.Selected:
		return resume{ID: a.ID, Status: cancelled}
	case changed && a.may.edits:
		answer["editedArgs"] = r.UpdatedInput
	case answer["approved"] == false && reason != "" && a.may.reason:
		answer["reason"] = reason
	}
	return resume{a.ID, resolved, encode(answer)}
}

// bareField is the name of the one field of a form that stands for one value.
const bareField = "value"

// fit finds the form of a question. A schema without fields is that of the answer itself.
// Any other schema, and none, leave an answer in words. The output of a call of the app has
// no form.
func (a *ask) fit() {
	f, field := &a.form, form.Field{}
	f.Message = cmp.Or(a.Message, a.Reason, "The agent asks for an answer.")
	switch {
	case a.app:
	case a.Reason == "confirmation" && isNull(a.Schema):
		field.Type = "boolean"
	case read(a.Schema, &f.Schema) && len(f.Schema.Properties) > 0:
		return
	case read(a.Schema, &field) && (field.Type != "" || len(field.Enum) > 0):
	case len(a.Schema) > len(`{}`) && !isNull(a.Schema):
		field = form.Field{}
		f.Message += "\n\n" + string(a.Schema)
	}
	a.bare, f.Schema.Properties, f.Schema.Required = true, map[string]form.Field{bareField: field}, []string{bareField}
}

// questions are those of the form.
func (a *ask) questions() []trace.Question {
	all := a.form.Questions()
	for n := range all {
		all[n].QuestionID, all[n].ToolCallID = fmt.Sprintf("%s:%d", a.ID, n), a.ToolCallID
		if a.bare {
			all[n].Header = ""
		}
		if a.app { // clients name the call that they answer
			all[n].QuestionID = a.ToolCallID
		}
	}
	return all
}

// reply is the answer to a question.
func (a *ask) reply(all []trace.Answer) note {
	n := note{resume: resume{ID: a.ID, Status: cancelled}}
	for _, answer := range all {
		n.By = cmp.Or(n.By, answer.By)
	}
	action, content := a.form.Reply(all)
	switch text, is := content[bareField].(string); {
	case action != form.Accept:
		return n
	case !a.bare:
		n.Payload = encode(content)
	case is && a.form.Schema.Properties[bareField].Type == "":
		n.Payload = inWords(text)
	default:
		n.Payload = encode(content[bareField])
	}
	n.Status = resolved
	return n
}

// inWords is what a person wrote: an object, a list, true or false as JSON, else text.
func inWords(text string) raw {
	if text = strings.TrimSpace(text); text == "true" || text == "false" {
		return raw(text)
	}
	return output(text)
}

// values are what answers each question of an ask.
func (a *ask) values(r resume) [][]string {
	content := r.Payload
	if a.bare {
		content = encode(map[string]raw{bareField: r.Payload})
	}
	if r.Status != resolved {
		return nil
	}
	return a.form.Answers(encode(map[string]any{"action": form.Accept, "content": content}))
}
