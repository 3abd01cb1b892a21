package uiendpoint

import (
	"cmp"
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
	part    uistream.Part
	request string // the id of the request or question on record
	done    bool
}

// approves reports whether an approval is waited for.
func (w *wait) approves() bool { return w.part.State == "approval-requested" }

// note tells the Decoder an answer, or that an earlier process has left the turn.
type note struct {
	Left     bool                      `json:"left,omitempty"`
	Call     string                    `json:"call,omitempty"`
	Approval *trace.PermissionResponse `json:"approval,omitempty"`
	Answer   *trace.Answer             `json:"answer,omitempty"`
}

// automatic reports whether the endpoint itself answers the approval of a call.
func automatic(p uistream.Part) bool {
	return p.Approval != nil && string(p.Approval.Keys["isAutomatic"]) == "true"
}

// ask asks what the run has left open: approvals, and calls that the app answers.
func (d *Decoder) ask(b *trace.Builder) []agent.Effect {
	var permits []trace.PermissionAsk
	var questions []trace.Question
	var approvals, calls []*wait
	parts := d.message.Message().Parts
	forApp := d.reason == "" || d.reason == "tool-calls"
	for i, p := range parts {
		switch {
		case p.State == "approval-requested" && !automatic(p):
			approvals = append(approvals, &wait{part: p})
			permits = append(permits, trace.PermissionAsk{Request: trace.PermissionRequest{RequestID: p.Approval.ID, ToolCallID: p.ToolCallID, Title: p.ToolName, Options: []trace.PermissionOption{
				{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
			}}})
		case forApp && i >= len(parts)-len(step(parts)) && !p.ProviderExecuted && (p.State == "input-available" || p.State == "approval-responded" && automatic(p)):
			calls = append(calls, &wait{part: p})
			questions = append(questions, trace.Question{QuestionID: p.ToolCallID, ToolCallID: p.ToolCallID, Text: "The app is to run " + p.ToolName + "."})
		}
	}
	d.waits = slices.Concat(approvals, calls)
	var decided []*trace.PermissionResponse
	for i, p := range b.PermissionRequests(permits...) {
		approvals[i].request = p.ID
		decided = append(decided, nil)
		if p.Decided {
			decided[i] = &p.Answer
		}
	}
	for i, id := range b.Questions(questions...) {
		calls[i].request = id
	}
	return d.effects(decided)
}

// effects wait for the answers. The policy may have decided the first of them.
func (d *Decoder) effects(decided []*trace.PermissionResponse) (all []agent.Effect) {
	for i, w := range d.waits {
		call := w.part.ToolCallID
		if !w.approves() {
			all = append(all, agent.Ask{Native: "call " + call, QuestionIDs: []string{w.request}, Reply: func(a []trace.Answer) json.RawMessage {
				return remote.Note(note{Call: call, Answer: &a[0]})
			}})
			continue
		}
		permit := agent.Permit{Native: "approval " + w.part.Approval.ID, RequestID: w.request, Reply: func(r trace.PermissionResponse) json.RawMessage {
			return remote.Note(note{Call: call, Approval: &r})
		}}
		if i < len(decided) {
			permit.Decided = decided[i]
		}
		all = append(all, permit)
	}
	return all
}

// noted takes an answer. The last of them begins the next run.
func (d *Decoder) noted(n note, t agent.Turns) []agent.Effect {
	if n.Left {
		t.Prompted(sent{Messages: d.before}.prompt())
		return d.effects(nil)
	}
	b := t.Current()
	if b == nil || d.phase != waiting {
		return nil
	}
	by := ""
	for _, w := range d.waits {
		switch {
		case w.done || w.part.ToolCallID != n.Call:
		case w.approves() && n.Approval != nil:
			w.done, by, n.Approval.RequestID = true, n.Approval.By, w.request
			b.PermissionResponse(*n.Approval)
			_ = d.message.Add(response(w.part.Approval.ID, *n.Approval))
		case !w.approves() && n.Answer != nil:
			w.done, by, n.Answer.QuestionID = true, n.Answer.By, w.request
			b.Answer(*n.Answer)
			writer{d, b}.put(d.output(n.Call, *n.Answer))
		}
	}
	if slices.ContainsFunc(d.waits, func(w *wait) bool { return !w.done }) {
		return nil
	}
	if d.id == "" {
		writer{d, b}.name("")
	}
	message := d.message.Message()
	message.ID = d.id
	next := d.request(append(slices.Clone(d.before), message.AppendJSON(nil)), d.id)
	next.By = by
	return []agent.Effect{agent.Send{Data: next.JSON()}}
}

// response is an answer for the endpoint, which has no word for another input: a call that the
// user has changed does not run as it is.
func response(approval string, r trace.PermissionResponse) uistream.Chunk {
	if r.Allowed() && len(r.UpdatedInput) > 0 {
		return uistream.ToolApprovalResponse{ApprovalID: approval, Reason: "The user wants another input: " + string(r.UpdatedInput)}
	}
	return uistream.ToolApprovalResponse{ApprovalID: approval, Approved: r.Allowed(), Reason: r.Reason}
}

// output is the output of the app, which the endpoint does not repeat.
func (d *Decoder) output(call string, a trace.Answer) uistream.Chunk {
	switch {
	case a.Outcome != trace.Selected:
		return uistream.ToolOutputError{ToolCallID: call, ErrorText: cmp.Or(a.Reason, "The app did not run the tool."), Form: d.forms[call]}
	case len(a.Values) == 1:
		return uistream.ToolOutputAvailable{ToolCallID: call, Output: trace.Opaque(json.RawMessage(a.Values[0])), Form: d.forms[call]}
	}
	return uistream.ToolOutputAvailable{ToolCallID: call, Output: agentkit.Encode(a.Values), Form: d.forms[call]}
}
