package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/trace"
)

// ask is something that a run has asked for. The turn goes on once all asks are answered.
type ask struct {
	id     string
	kind   askKind
	call   string     // that the ask is about, or ""
	form   *form.Form // of a question with a schema
	bare   bool       // the form stands for one value
	may    allowing   // of an approval
	texts  []trace.Question
	ids    []string // on record
	answer *resume
}

// askKind says what an answer is.
type askKind int

const (
	approval askKind = iota // whether a call may run
	question                // what the user says
	toolUse                 // the result of a tool of the app
	old                     // an interrupt before 1.0
)

// note is an answer on its way to the Decoder.
type note struct {
	resume
	By string `json:"by,omitempty"`
}

// bareField is the name of the one field of a form that stands for one value.
const bareField = "value"

// interrupted asks for all that a run has ended with.
func (d *Decoder) interrupted(t *turn, all []interrupt) {
	t.b.Emit(memo{Open: all, Run: t.input.RunID}.record())
	var approvals, questions []*ask
	var requests []trace.PermissionAsk
	for n, i := range all {
		a := &ask{id: cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1)), kind: question, call: i.ToolCallID}
		t.asks = append(t.asks, a)
		may, is := i.approves()
		if !is {
			if c := t.calls[i.ToolCallID]; c == nil || !t.input.has(c.name) { // else the answer is the output of the call
				a.fit(i)
			}
			a.texts = a.questions(i)
			questions = append(questions, a)
			continue
		}
		a.kind = approval
		_, c := d.known(t, event{ToolCallID: i.ToolCallID})
		d.whole(t, i.ToolCallID)
		title := cmp.Or(i.Message, d.tools.Classify(c.name, c.input()).Title, c.name)
		approvals, requests = append(approvals, a), append(requests, trace.PermissionAsk{Request: trace.PermissionRequest{
			RequestID: a.id, ToolCallID: i.ToolCallID, Title: title,
			Options: []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}},
		}})
		a.may = may
	}
	for n, decision := range t.b.PermissionRequests(requests...) {
		a := approvals[n]
		a.ids = []string{decision.ID}
		id, may := a.id, a.may
		effect := agent.Permit{Native: id, RequestID: decision.ID, Reply: func(r trace.PermissionResponse) raw {
			return remote.Note(note{By: r.By, resume: approved(id, r, may)})
		}}
		if decision.Decided {
			effect.Decided = &decision.Answer
		}
		d.do(effect)
	}
	d.put(t, questions)
}

// schema is what an answer must look like, as far as it matters here.
type schema struct {
	Type       any            `json:"type"`
	Enum       []any          `json:"enum"`
	Properties map[string]raw `json:"properties"`
	Additional any            `json:"additionalProperties"`
	OneOf      []schema       `json:"oneOf"`
	AnyOf      []schema       `json:"anyOf"`
}

// flat gathers the fields of all forms that an answer may have.
func (s schema) flat() schema {
	fields := maps.Clone(s.Properties)
	for _, o := range slices.Concat(s.OneOf, s.AnyOf) {
		o = o.flat()
		if fields == nil {
			fields = map[string]raw{}
		}
		maps.Copy(fields, o.Properties)
		s.Additional = cmp.Or(s.Additional, o.Additional)
	}
	s.Properties = fields
	return s
}

// allowing is what an approval may say beside yes and no. An answer to an interrupt without a
// schema may say everything.
type allowing struct{ edits, reason bool }

// approves reports whether an interrupt asks whether a call may run.
func (i interrupt) approves() (may allowing, is bool) {
	var s schema
	switch known := read(i.Schema, &s); {
	case i.ToolCallID == "":
		return may, false
	case !known && isNull(i.Schema):
		return allowing{true, true}, i.Reason != "input_required"
	}
	s = s.flat()
	_, is = s.Properties["approved"]
	_, may.edits = s.Properties["editedArgs"]
	_, may.reason = s.Properties["reason"]
	may.reason = may.reason || s.Additional != false
	return may, is
}

// approved is the answer to an approval. An agent that takes no changes must not run the
// input that the person has changed.
func approved(id string, r trace.PermissionResponse, may allowing) resume {
	changed := r.Allowed() && len(r.UpdatedInput) > 0
	reason := r.Reason
	if changed && !may.edits {
		reason = "The user wants another input: " + string(r.UpdatedInput)
	}
	answer := map[string]any{"approved": r.Allowed() && (!changed || may.edits)}
	switch {
	case r.Outcome != trace.Selected:
		return resume{ID: id, Status: cancelled}
	case changed && may.edits:
		answer["editedArgs"] = r.UpdatedInput
	case answer["approved"] == false && reason != "" && may.reason:
		answer["reason"] = reason
	}
	return resume{id, resolved, encode(answer)}
}

// fit finds the form of a question. A schema that is no form is a question in words.
func (a *ask) fit(i interrupt) {
	var s schema
	read(i.Schema, &s)
	f := form.Form{Message: cmp.Or(i.Message, i.Reason)}
	whole := i.Schema
	if i.Reason == "confirmation" && isNull(whole) {
		s.Type, whole = "boolean", raw(`{"type":"boolean"}`)
	}
	if len(s.Properties) == 0 {
		if s.Type == nil && s.Enum == nil {
			return
		}
		a.bare = true
		whole = encode(map[string]any{"properties": map[string]raw{bareField: whole}, "required": []string{bareField}})
	}
	if json.Unmarshal(whole, &f.Schema) == nil {
		a.form = &f
	}
}

// questions are those of an interrupt.
func (a *ask) questions(i interrupt) []trace.Question {
	all := []trace.Question{{Text: cmp.Or(i.Message, i.Reason, "The agent asks for an answer.")}}
	switch {
	case a.form != nil:
		all = a.form.Questions()
	case len(i.Schema) > len(`{}`) && !isNull(i.Schema):
		all[0].Text += "\n\n" + string(i.Schema)
	}
	for n := range all {
		all[n].QuestionID, all[n].ToolCallID = fmt.Sprintf("%s:%d", a.id, n), i.ToolCallID
		if all[n].Header == bareField {
			all[n].Header = ""
		}
	}
	return all
}

// put puts all questions to the user at once.
func (d *Decoder) put(t *turn, asks []*ask) {
	var all []trace.Question
	for _, a := range asks {
		all = append(all, a.texts...)
	}
	ids := t.b.Questions(all...)
	for _, a := range asks {
		n := min(len(a.texts), len(ids)) // a turn that is over has no ids
		a.ids, ids = ids[:n], ids[n:]
		d.await(a)
	}
}

// await waits for the answers to the questions of an ask.
func (d *Decoder) await(a *ask) {
	id, f, bare := a.id, a.form, a.bare
	d.do(agent.Ask{Native: a.id, QuestionIDs: a.ids, Reply: func(all []trace.Answer) raw {
		n := note{resume: resume{ID: id, Status: cancelled}}
		for _, answer := range all {
			n.By = cmp.Or(n.By, answer.By)
		}
		switch {
		case f != nil:
			if action, content := f.Reply(all); action == form.Accept {
				n.Status, n.Payload = resolved, encode(content)
				if bare {
					n.Payload = encode(content[bareField])
				}
			}
		case len(all) == 1 && all[0].Outcome == trace.Selected:
			n.Status, n.Payload = resolved, inWords(all[0].Values)
		}
		return remote.Note(n)
	}})
}

// inWords is what a person wrote: an object, a list, true or false as JSON, else text.
func inWords(values []string) raw {
	text := strings.TrimSpace(strings.Join(values, ", "))
	if text == "true" || text == "false" {
		return raw(text)
	}
	return output(text)
}

// interruptedLegacy asks what a run before 1.0 has ended with.
func (d *Decoder) interruptedLegacy(t *turn) {
	for n, value := range t.legacy {
		var words struct{ Question, Message, Prompt, Text, Description string }
		read(raw(plain(value)), &words)
		text := cmp.Or(words.Question, words.Message, words.Prompt, words.Text, words.Description, plain(value))
		id := fmt.Sprintf("interrupt-%d", n+1)
		t.asks = append(t.asks, &ask{id: id, kind: old, texts: []trace.Question{{QuestionID: id, Text: text}}})
	}
	d.put(t, t.asks)
}

// pending asks for the results of the tools of the app that a run has called. An endpoint
// need not name them.
func (d *Decoder) pending(t *turn, ids []string) {
	if len(ids) == 0 {
		for _, id := range t.order {
			if t.input.has(t.calls[id].name) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		if c := t.calls[id]; c != nil && !c.done {
			text := fmt.Sprintf("The agent calls %s of the app with %s. What is the result?", c.name, c.input())
			t.asks = append(t.asks, &ask{id: id, kind: toolUse, call: id, texts: []trace.Question{{QuestionID: id, ToolCallID: id, Header: c.name, Text: text}}})
		}
	}
	d.put(t, t.asks)
}

// noted takes an answer.
func (d *Decoder) noted(n note) {
	t := d.turn
	if t == nil || t.b.Over() {
		return
	}
	for _, a := range t.asks {
		if a.id == n.ID && a.answer == nil {
			t.by = cmp.Or(n.By, t.by)
			t.take(a, n.resume)
		}
	}
	d.next()
}

// take puts an answer on record. In a live session the gateway has done so for what people
// answer.
func (t *turn) take(a *ask, r resume) {
	a.answer = &r
	if a.kind == approval {
		t.approved(a, r)
		return
	}
	values := a.values(r)
	for n, id := range a.ids {
		answer := trace.Answer{QuestionID: id, Outcome: trace.Canceled}
		if n < len(values) && len(values[n]) > 0 {
			answer.Outcome, answer.Values = trace.Selected, values[n]
		}
		t.b.Answer(answer)
	}
	if c := t.calls[a.call]; a.kind == toolUse && !c.done {
		c.done, t.news = true, c.sub == ""
		result := trace.ToolResult{ToolCallID: a.call, Status: trace.ToolCompleted, Output: output(plain(r.Payload))}
		if r.Status != resolved {
			result = trace.ToolResult{ToolCallID: a.call, Status: trace.ToolFailed, Error: "The app gave no result."}
		}
		c.b.ToolResult(result)
		t.said.result("", a.call, c.sub, encode(cmp.Or(plain(r.Payload), result.Error)), result.Error)
	}
}

// values are what answers each question of an ask.
func (a *ask) values(r resume) [][]string {
	content := r.Payload
	if a.bare {
		content = encode(map[string]raw{bareField: r.Payload})
	}
	switch {
	case r.Status != resolved:
		return nil
	case a.form != nil:
		return a.form.Answers(encode(map[string]any{"action": form.Accept, "content": content}))
	}
	return [][]string{{plain(r.Payload)}}
}

func (t *turn) approved(a *ask, r resume) {
	var p struct {
		Approved bool   `json:"approved"`
		Edited   raw    `json:"editedArgs"`
		Reason   string `json:"reason"`
	}
	read(r.Payload, &p)
	c := t.calls[a.call]
	c.refused = r.Status == resolved && !p.Approved
	answer := trace.PermissionResponse{RequestID: a.ids[0], Outcome: trace.Canceled}
	switch {
	case c.refused:
		answer.Outcome, answer.ChosenOption, answer.OptionKind, answer.Reason = trace.Selected, "reject", trace.RejectOnce, p.Reason
	case r.Status == resolved:
		answer.Outcome, answer.ChosenOption, answer.OptionKind, answer.UpdatedInput = trace.Selected, "approve", trace.AllowOnce, p.Edited
	}
	t.b.PermissionResponse(answer)
	if p.Approved && !isNull(p.Edited) {
		c.b.ToolCallUpdate(trace.ToolCall{ToolCallID: a.call, Input: p.Edited})
	}
}

// next goes on with the turn once the run is over and everything is answered.
func (d *Decoder) next() {
	t := d.turn
	if t == nil || d.run == nil || len(t.asks) == 0 || t.streams > 0 || slices.ContainsFunc(t.asks, func(a *ask) bool { return a.answer == nil }) {
		return
	}
	in := t.input
	in.Resume, in.Parent = nil, ""
	if in.Version != "" {
		in.Parent = in.RunID
	}
	in.Messages = append(slices.Clone(in.Messages), t.said.encoded(in.Version == "")...)
	if state := t.values[state()]; !isNull(state) {
		in.State = state
	}
	var olds []raw
	for _, a := range t.asks {
		switch a.kind {
		case approval, question:
			in.Resume = append(in.Resume, *a.answer)
		case old:
			olds = append(olds, a.answer.Payload)
		case toolUse:
		}
	}
	if len(olds) > 0 {
		in.command(olds)
	}
	call := d.run(in)
	call.By = t.by
	d.do(agent.Send{Data: call.JSON()})
}
