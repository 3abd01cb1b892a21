package agui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/trace"
)

// ask is something that a run has asked for. The turn goes on once all asks are answered.
type ask struct {
	interrupt
	kind   askKind
	may    allowing  // of an approval
	form   form.Form // of everything else
	app    bool      // the answer is the output of a call that the app runs
	bare   bool      // the form has one field, whose value is the answer
	ids    []string  // on record
	answer *resume
}

// askKind says what an answer is.
type askKind int

const (
	approval askKind = iota // whether a call may run
	question                // what the user says
	toolUse                 // the result of a tool of the app
	old                     // what the user says, to an endpoint before 1.0
)

// note is an answer on its way to the Decoder.
type note struct {
	resume
	By string `json:"by,omitempty"`
}

// ask puts to the user all that a run has ended with.
func (d *Decoder) ask(t *turn, kind askKind, all []interrupt) {
	var approvals, questions []*ask
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		a := &ask{interrupt: i, kind: kind}
		t.asks = append(t.asks, a)
		if may, is := i.approves(); is && kind == question {
			a.kind, a.may = approval, may
			approvals = append(approvals, a)
			continue
		}
		c := t.calls[i.ToolCallID]
		a.app = c != nil && t.input.has(c.name)
		a.fit()
		questions = append(questions, a)
	}
	d.approvals(t, approvals)
	d.questions(t, questions)
}

// approvals asks for all approvals at once.
func (d *Decoder) approvals(t *turn, asks []*ask) {
	var requests []trace.PermissionAsk
	for _, a := range asks {
		_, c := d.known(t, event{ToolCallID: a.ToolCallID})
		d.whole(t, a.ToolCallID)
		requests = append(requests, trace.PermissionAsk{Request: trace.PermissionRequest{
			RequestID: a.ID, ToolCallID: a.ToolCallID, Title: cmp.Or(a.Message, d.tools.Classify(c.name, c.input()).Title, c.name),
			Options: []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}},
		}})
	}
	for n, decision := range t.b.PermissionRequests(requests...) {
		a := asks[n]
		a.ids = []string{decision.ID}
		effect := agent.Permit{Native: a.ID, RequestID: decision.ID, Reply: func(r trace.PermissionResponse) raw {
			return remote.Note(note{By: r.By, resume: a.approved(r)})
		}}
		if decision.Decided {
			effect.Decided = &decision.Answer
		}
		d.do(effect)
	}
}

// questions asks all questions at once.
func (d *Decoder) questions(t *turn, asks []*ask) {
	var all []trace.Question
	for _, a := range asks {
		all = append(all, a.questions()...)
	}
	ids := t.b.Questions(all...)
	for _, a := range asks {
		n := min(len(a.questions()), len(ids)) // a turn that is over has no ids
		a.ids, ids = ids[:n], ids[n:]
		d.do(agent.Ask{Native: a.ID, QuestionIDs: a.ids, Reply: func(all []trace.Answer) raw { return remote.Note(a.reply(all)) }})
	}
}

// noted takes an answer.
func (d *Decoder) noted(n note) {
	t := d.turn
	if t == nil || t.b.Over() {
		return
	}
	for _, a := range t.asks {
		if a.ID == n.ID && a.answer == nil {
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
	if c := t.calls[a.ToolCallID]; a.kind == toolUse && !c.done {
		c.done, t.news = true, c.sub == ""
		result := trace.ToolResult{ToolCallID: a.ToolCallID, Status: trace.ToolCompleted, Output: output(plain(r.Payload))}
		if r.Status != resolved {
			result = trace.ToolResult{ToolCallID: a.ToolCallID, Status: trace.ToolFailed, Error: "The app gave no result."}
		}
		c.b.ToolResult(result)
		t.said.result("", a.ToolCallID, c.sub, encode(cmp.Or(plain(r.Payload), result.Error)), result.Error)
	}
}

func (t *turn) approved(a *ask, r resume) {
	var p struct {
		Approved bool   `json:"approved"`
		Edited   raw    `json:"editedArgs"`
		Reason   string `json:"reason"`
	}
	read(r.Payload, &p)
	c := t.calls[a.ToolCallID]
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
		c.b.ToolCallUpdate(trace.ToolCall{ToolCallID: a.ToolCallID, Input: p.Edited})
	}
}

// next goes on with the turn once the run is over and everything is answered.
func (d *Decoder) next() {
	t := d.turn
	if t == nil || !d.live || len(t.asks) == 0 || t.streams > 0 || slices.ContainsFunc(t.asks, func(a *ask) bool { return a.answer == nil }) {
		return
	}
	in := t.input
	in.Resume, in.Parent = nil, ""
	if in.Version != "" {
		in.Parent = in.RunID
	}
	in.Messages = append(slices.Clone(in.Messages), t.said.encoded(in.Version == "")...)
	in.State = first(t.values[state()], in.State)
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
	in.command(olds)
	call := request(in)
	call.By = t.by
	d.do(agent.Send{Data: call.JSON()})
}

// interrupts are those of an endpoint before 1.0.
func (t *turn) interrupts() (all []interrupt) {
	for _, value := range t.legacy {
		var words struct{ Question, Message, Prompt, Text, Description string }
		read(raw(plain(value)), &words)
		all = append(all, interrupt{Message: cmp.Or(words.Question, words.Message, words.Prompt, words.Text, words.Description, plain(value))})
	}
	return all
}

// pending are the calls of tools of the app that a run waits for. An endpoint need not name
// them.
func (t *turn) pending(ids []string) (all []interrupt) {
	if len(ids) == 0 {
		ids = slices.DeleteFunc(slices.Clone(t.order), func(id string) bool { return !t.input.has(t.calls[id].name) })
	}
	for _, id := range ids {
		if c := t.calls[id]; c != nil && !c.done {
			text := fmt.Sprintf("The agent calls %s of the app with %s. What is the result?", c.name, c.input())
			all = append(all, interrupt{ID: id, ToolCallID: id, Message: text})
		}
	}
	return all
}

// output is a result: an object or a list if the text is one.
func output(text string) raw {
	if s := strings.TrimSpace(text); (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && isJSON(s) {
		return raw(s)
	}
	return encode(text)
}
