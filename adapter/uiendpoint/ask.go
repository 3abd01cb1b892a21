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

// automatic reports whether the endpoint itself answers the approval of a call.
func automatic(p uistream.Part) bool {
	return p.Approval != nil && string(p.Approval.Keys["isAutomatic"]) == "true"
}

// ask asks what the run has left open: approvals, and calls that the app answers.
func (d *Decoder) ask() []agent.Effect {
	var permits []trace.PermissionCheck
	var questions []trace.Question
	parts := d.message.Message().Parts
	forApp := d.reason == "" || d.reason == "tool-calls"
	for i, p := range parts {
		switch {
		case p.State == "approval-requested" && !automatic(p):
			permits = append(permits, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: p.Approval.ID, ToolCallID: p.ToolCallID, Title: p.ToolName, Options: []trace.PermissionOption{
				{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
			}}})
		case forApp && i >= len(parts)-len(step(parts)) && !p.ProviderExecuted && (p.State == "input-available" || p.State == "approval-responded" && automatic(p)):
			questions = append(questions, trace.Question{QuestionID: p.ToolCallID, ToolCallID: p.ToolCallID, Text: "The app is to run " + p.ToolName + "."})
		}
	}
	return append(d.Permissions(d.b, permits...), d.Questions(d.b, questions...)...)
}

// Next implements remote.Asker.
func (d *Decoder) Next(_ *trace.Builder, replies remote.Replies) *remote.Call {
	for _, p := range d.message.Message().Parts {
		if p.Approval != nil {
			if r, is := replies.Permissions[p.Approval.ID]; is {
				_ = d.message.Add(response(p.Approval.ID, r))
			}
		}
		if a, is := replies.Answers[p.ToolCallID]; is && p.ToolCallID != "" {
			d.put(d.output(p.ToolCallID, a))
		}
	}
	if d.id == "" {
		d.name("")
	}
	message := d.message.Message()
	message.ID = d.id
	call := d.request(append(slices.Clone(d.before), message.AppendJSON(nil)), d.id)
	return &call
}

// response is an answer for the endpoint, which has no word for another input: a call that the
// user has changed does not run as it is.
func response(approval string, r trace.PermissionResponse) uistream.Chunk {
	r = agentkit.Unchanged(r)
	return uistream.ToolApprovalResponse{ApprovalID: approval, Approved: r.Allowed(), Reason: r.Reason}
}

// output is the output of the app, which the endpoint does not repeat.
func (d *Decoder) output(call string, a trace.Answer) uistream.Chunk {
	switch {
	case a.Outcome != trace.Selected:
		return uistream.ToolOutputError{ToolCallID: call, ErrorText: cmp.Or(a.Reason, "The app did not run the tool."), Form: d.forms[call]}
	case len(a.Values) == 1:
		return uistream.ToolOutputAvailable{ToolCallID: call, Output: trace.CompactJSON(json.RawMessage(a.Values[0])), Form: d.forms[call]}
	}
	return uistream.ToolOutputAvailable{ToolCallID: call, Output: agentkit.Encode(a.Values), Form: d.forms[call]}
}
