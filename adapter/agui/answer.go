package agui

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
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
func (t *turn) approved(a *ask, r trace.PermissionResponse) resume {
	if r.Outcome != trace.Selected {
		return resume{ID: a.ID, Status: cancelled}
	}
	if !a.may.edits {
		r = agentkit.Unchanged(r)
	}
	t.decided(a.ToolCallID, r)
	answer := map[string]any{"approved": r.Allowed()}
	switch {
	case r.Allowed() && len(r.UpdatedInput) > 0:
		answer["editedArgs"] = r.UpdatedInput
	case !r.Allowed() && r.Reason != "" && a.may.reason:
		answer["reason"] = r.Reason
	}
	return resume{a.ID, resolved, encode(answer)}
}

// decided takes what a person, or the policy, has decided about a call.
func (t *turn) decided(call string, r trace.PermissionResponse) {
	c := t.calls[call]
	if c.refused = !r.Allowed(); !c.refused && len(r.UpdatedInput) > 0 {
		c.b.ToolCallUpdate(trace.ToolCall{ToolCallID: call, Input: r.UpdatedInput})
	}
}

// bareField is the name of the one field of a form that stands for one value.
const bareField = "value"

// fit finds the form of a question. A schema without fields is that of the answer itself.
// Any other schema, and none, leave an answer in words.
func (a *ask) fit(app bool) {
	f, field := &a.form, form.Field{}
	f.Message = cmp.Or(a.Message, a.Reason, "The agent asks for an answer.")
	switch {
	case app: // the output of a call of the app has no form
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

// questions are those of the form. Clients name a call of the app that they answer.
func (a *ask) questions(app bool) []trace.Question {
	a.app = app
	a.fit(app)
	all := a.form.Questions()
	for n := range all {
		all[n].QuestionID, all[n].ToolCallID = fmt.Sprintf("%s:%d", a.ID, n), a.ToolCallID
		if a.bare {
			all[n].Header = ""
		}
		if app {
			all[n].QuestionID = a.ToolCallID
		}
		a.ids = append(a.ids, all[n].QuestionID)
	}
	return all
}

// reply is the answer to a question.
func (a *ask) reply(answers map[string]trace.Answer) resume {
	var all []trace.Answer
	for _, id := range a.ids {
		all = append(all, answers[id])
	}
	r := resume{ID: a.ID, Status: resolved}
	action, content := a.form.Reply(all)
	switch text, is := content[bareField].(string); {
	case action != form.Accept:
		r.Status = cancelled
	case is && a.app:
		r.Payload = appOutput(text, all[0].Via)
	case !a.bare:
		r.Payload = encode(content)
	case is && a.form.Schema.Properties[bareField].Type == "":
		r.Payload = inWords(text)
	default:
		r.Payload = encode(content[bareField])
	}
	return r
}

// appOutput is what the app, or a person in its place, says a tool of the app has given. The app
// answers in the chat, by JSON. Words of a person are text, or an object or a list.
func appOutput(value string, via trace.Via) raw {
	if via == trace.ViaWords || via == trace.ViaRequest || !isJSON(value) {
		return output(value)
	}
	return trace.CompactJSON(raw(value))
}

// inWords is what a person wrote: an object, a list, true or false as JSON, else text.
func inWords(text string) raw {
	if text = strings.TrimSpace(text); text == "true" || text == "false" {
		return raw(text)
	}
	return output(text)
}
