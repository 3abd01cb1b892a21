package uiendpoint

import (
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// wait is an approval, or a call that the app itself answers.
type wait struct {
	id        string // of the approval, or of the call
	call      *call
	approval  bool
	automatic bool
	asked     bool
	request   string // the id of the request or question on record
	done      bool
}

// note tells the Decoder an answer, or that an earlier process has left the turn.
type note struct {
	Left bool `json:"left,omitempty"`
	// ID is that of the wait.
	ID       string                    `json:"id,omitempty"`
	Approval *trace.PermissionResponse `json:"approval,omitempty"`
	Answer   *trace.Answer             `json:"answer,omitempty"`
}

// ask asks what the run has left open: approvals, and calls that the app answers.
func (d *Decoder) ask(b *trace.Builder) []agent.Effect {
	if slices.Contains([]string{"", "tool-calls"}, d.reason) {
		for _, c := range d.order {
			own := slices.ContainsFunc(d.waits, func(w *wait) bool { return w.call == c && !w.automatic })
			if c.form.Unmarked && c.whole && !c.done && c.step == d.steps && !own {
				d.waits = append(d.waits, &wait{id: c.id, call: c})
			}
		}
	}
	var permits []trace.PermissionAsk
	var questions []trace.Question
	var asked, calls []*wait
	for _, w := range d.waits {
		switch {
		case w.asked:
			continue
		case w.approval:
			permits, asked = append(permits, trace.PermissionAsk{Request: permission(w)}), append(asked, w)
		default:
			questions, calls = append(questions, trace.Question{QuestionID: w.id, ToolCallID: w.id, Text: "The app is to run " + w.call.name + "."}), append(calls, w)
		}
		w.asked = true
	}
	var effects []agent.Effect
	for i, p := range b.PermissionRequests(permits...) {
		asked[i].request = p.ID
		e := d.permit(asked[i])
		if p.Decided {
			e.Decided = &p.Answer
		}
		effects = append(effects, e)
	}
	for i, id := range b.Questions(questions...) {
		calls[i].request = id
		effects = append(effects, d.question(calls[i]))
	}
	if len(effects) > 0 {
		d.phase = waiting
	}
	return effects
}

func permission(w *wait) trace.PermissionRequest {
	return trace.PermissionRequest{RequestID: w.id, ToolCallID: w.call.id, Title: w.call.name, Options: []trace.PermissionOption{
		{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
	}}
}

func (d *Decoder) permit(w *wait) agent.Permit {
	return agent.Permit{Native: "approval " + w.id, RequestID: w.request, Reply: func(r trace.PermissionResponse) json.RawMessage {
		return remote.Note(note{ID: w.id, Approval: &r})
	}}
}

func (d *Decoder) question(w *wait) agent.Ask {
	return agent.Ask{Native: "call " + w.id, QuestionIDs: []string{w.request}, Reply: func(all []trace.Answer) json.RawMessage {
		return remote.Note(note{ID: w.id, Answer: &all[0]})
	}}
}

// noted takes an answer. The last of them begins the next run.
func (d *Decoder) noted(n note, t agent.Turns) []agent.Effect {
	if n.Left {
		return d.left(t)
	}
	b := t.Current()
	if b == nil || d.phase != waiting {
		return nil
	}
	by := ""
	for _, w := range d.waits {
		switch {
		case w.done || w.id != n.ID || w.approval != (n.Approval != nil):
		case w.approval:
			w.done, by = true, n.Approval.By
			n.Approval.RequestID = w.request
			b.PermissionResponse(*n.Approval)
			writer{d, b, false}.say(uistream.ToolApprovalResponse{ApprovalID: w.id, Approved: n.Approval.Allowed(), Reason: n.Approval.Reason})
		case n.Answer != nil:
			w.done, by = true, n.Answer.By
			n.Answer.QuestionID = w.request
			b.Answer(*n.Answer)
			d.answered(b, w.call, *n.Answer)
		}
	}
	if slices.ContainsFunc(d.waits, func(w *wait) bool { return !w.done }) {
		return nil
	}
	if d.id == "" {
		writer{d, b, false}.name("")
	}
	message := d.message.Message()
	message.ID = d.id
	next := d.request(d.sent, append(slices.Clone(d.before), message.AppendJSON(nil)), d.id)
	next.By = by
	return []agent.Effect{agent.Send{Data: next.JSON()}}
}

// answered puts the output of the app on record, which the endpoint does not repeat.
func (d *Decoder) answered(b *trace.Builder, c *call, a trace.Answer) {
	c.settle()
	w := writer{d, b, false}
	if a.Outcome != trace.Selected {
		const why = "The app did not run the tool."
		w.say(uistream.ToolOutputError{ToolCallID: c.id, ErrorText: why, Form: c.form})
		b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolFailed, Error: why})
		return
	}
	output := agentkit.Encode(a.Values)
	if len(a.Values) == 1 {
		output = trace.Opaque(json.RawMessage(a.Values[0]))
	}
	w.say(uistream.ToolOutputAvailable{ToolCallID: c.id, Output: output, Form: c.form})
	b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted, Output: output})
}
