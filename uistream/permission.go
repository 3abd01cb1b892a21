package uistream

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file translates permission requests.

// AskPermission is the name of the client tool that a permission request is put
// as to a client whose protocol has no approvals. Its output is the id of an
// option, or an object with option, approved, reason and updated_input.
const AskPermission = "AskPermission"

// permissionPrefix makes the id of a call of a request's own.
const permissionPrefix = "permission-"

// RequestID is the id of the request behind a call of [AskPermission].
func RequestID(toolCallID string) string {
	id := strings.TrimPrefix(toolCallID, permissionPrefix)
	for strings.HasSuffix(id, callSuffix) {
		id = strings.TrimSuffix(id, callSuffix)
	}
	return id
}

// approval is a permission request that a person is asked.
type approval struct {
	asked
	request trace.PermissionRequest
	said    permissionData // what the data part says, where there is one
	answer  *trace.PermissionResponse
}

// permission takes a request, which is shown when the turn pauses on it.
func (t *Translator) permission(p trace.PermissionRequest) {
	if _, ok := t.approvals[p.RequestID]; ok || p.DecidedBy != "" {
		return
	}
	put(&t.approvals, p.RequestID, &approval{request: p})
	if c := t.calls[p.ToolCallID]; c != nil {
		c.ran = time.Time{}
	}
}

// askPermissions shows requests.
func (t *Translator) askPermissions(all []*approval) {
	if len(all) == 0 {
		return
	}
	attached := t.can.approvals && (t.attaches(all) || t.options.Native && t.calls[all[0].request.ToolCallID] != nil)
	if !attached {
		t.ownStep()
	}
	for _, a := range all {
		if a.synthetic && !a.call.continued { // it stands above, where it cannot be answered any more
			t.settleCall(a.call, "It is asked again below.")
		}
		if attached {
			a.call, a.synthetic = t.calls[a.request.ToolCallID], false
		} else {
			a.call, a.synthetic = t.callOf(a), true
		}
		if !t.options.Native {
			t.sayRequest(a.request.RequestID, permissionSentence(a.request))
		}
		if !attached {
			t.complete(a.call, t.inputOf(a))
		}
		a.step, a.call.allowed = t.steps, false
		if t.can.approvals {
			a.call.approval = a.request.RequestID
			t.emit(ToolApprovalRequest{ToolCallID: a.call.id, ApprovalID: t.approvalID(a)})
		}
		if t.options.Domain.wants("approval") {
			a.said = permissionOf(a.request, t.calls[a.request.ToolCallID])
			t.emit(Data{Name: "approval", ID: a.request.RequestID, Value: quote.JSON(a.said)})
		}
	}
}

// approvalID is the id of a request for the reader of the stream: our own, or for an
// upstream its own.
func (t *Translator) approvalID(a *approval) string {
	if own := t.asks[a.request.ToolCallID]; own != "" && t.options.Native {
		return own
	}
	return a.request.RequestID
}

// inputOf is the input that a client shows in front of the buttons, for a request that
// is a call of its own. The input is that of the call to allow. A client without
// approvals needs the options, too.
func (t *Translator) inputOf(a *approval) json.RawMessage {
	about := t.calls[a.request.ToolCallID]
	if a.call.client {
		return quote.JSON(permissionOf(a.request, about))
	}
	if about == nil || about.input == nil {
		return json.RawMessage("{}")
	}
	return about.input
}

// callOf makes a call of the request's own.
func (t *Translator) callOf(a *approval) *call {
	id := permissionPrefix + a.request.RequestID
	for t.calls[id] != nil {
		id += callSuffix
	}
	c := t.call(id)
	c.name, c.title, c.client = "permission", a.request.Title, !t.can.approvals
	if c.client {
		c.name, c.form = AskPermission, clientForm()
	}
	return c
}

// permissionData describes a request for the app that draws the buttons: the call
// to allow may stand far above, or belong to a sub-agent and not be shown.
type permissionData struct {
	RequestID  string                   `json:"request_id"`
	Title      string                   `json:"title"`
	Options    []trace.PermissionOption `json:"options"`
	ToolCallID string                   `json:"tool_call_id,omitempty"`
	Tool       string                   `json:"tool,omitempty"`
	Input      json.RawMessage          `json:"input,omitempty"`
	InputText  string                   `json:"input_text,omitempty"` // see callFacts
	// Of a data part, once it is answered.
	Outcome  trace.PermissionOutcome `json:"outcome,omitempty"`
	Option   string                  `json:"option,omitempty"`
	Approved *bool                   `json:"approved,omitempty"`
}

func permissionOf(p trace.PermissionRequest, about *call) permissionData {
	d := permissionData{RequestID: p.RequestID, Title: p.Title, Options: p.Options, ToolCallID: p.ToolCallID}
	if d.Options == nil {
		d.Options = []trace.PermissionOption{}
	}
	if about != nil {
		d.Tool, d.Input, d.InputText = about.name, about.input, quote.InputText(about.input)
	}
	return d
}

func (t *Translator) permitted(p trace.PermissionResponse) {
	a, ok := t.approvals[p.RequestID]
	if !ok || a.done {
		return
	}
	a.done, a.answer = true, &p
	if c := t.calls[a.request.ToolCallID]; c != nil && p.Allowed() {
		c.ran = t.now
	}
	defer t.answeredOne(p.RequestID)
	if !a.shown() || a.call.continued { // answered by another way, or before the message went on
		return
	}
	a.call.allowed = p.Allowed()
	if a.said.RequestID != "" {
		a.said.Outcome, a.said.Option, a.said.Approved = p.Outcome, p.ChosenOption, &a.call.allowed
		t.emit(Data{Name: "approval", ID: p.RequestID, Value: quote.JSON(a.said)})
		a.said = permissionData{}
	}
	if t.can.approvalResponse && a.call.approval == p.RequestID && a.call.state == callRunning {
		t.responded(a)
	}
	switch {
	case !a.synthetic && !p.Allowed() && len(t.waits) > 1 && t.can.denied && !t.can.approvalResponse: // nothing else would tell the client
		t.emit(ToolOutputDenied{ToolCallID: a.call.id})
	case !a.synthetic:
	case a.call.client:
		t.settleClient(a.call, p)
	case p.Allowed():
		t.callResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolCompleted, Output: json.RawMessage(`"allowed"`)})
	default:
		t.callResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolDenied, Error: refusal(p)})
	}
}

// keptPart is a part of history with the answer to its request: not every client can be told of it in a stream.
// The clients' own check of messages refuses an approval that does not fit the state of its call.
func (t *Translator) keptPart(p Part) Part {
	if a := t.approvals[p.Approval.ID]; a != nil && a.answer != nil && !p.Approval.Answered {
		if p.State == askedApproval && t.over { // a turn that is over asks nothing
			return p
		}
		p.Approval = &Approval{ID: p.Approval.ID, Answered: true, Approved: a.answer.Allowed(), Reason: a.answer.Reason, Keys: p.Approval.Keys}
	}
	switch p.State {
	case askedApproval, gotApproval:
		if p.Approval.Answered {
			p.State = gotApproval
		}
	case outputDenied:
		if !p.Approval.Answered || p.Approval.Approved {
			p.Approval = &Approval{ID: p.Approval.ID, Answered: true, Keys: p.Approval.Keys}
		}
	default: // a call that nobody allowed has failed for another reason: its turn was stopped, or went on in another message
		if p.State == inputAvailable || !p.Approval.Answered || !p.Approval.Approved {
			p.Approval = nil
		}
	}
	return p
}

// settleClient ends a call of [AskPermission].
func (t *Translator) settleClient(c *call, p trace.PermissionResponse) {
	if p.Outcome != trace.Selected {
		t.settleCall(c, refusal(p))
		return
	}
	c.state, c.input, t.asked = callSettled, nil, true
	t.emit(ToolOutputAvailable{ToolCallID: c.id, Form: clientForm(), Output: quote.JSON(struct {
		Option   string `json:"option,omitempty"`
		Approved bool   `json:"approved"`
		Reason   string `json:"reason,omitempty"`
	}{p.ChosenOption, p.Allowed(), p.Reason})})
}

// refusal says why a call may not run.
func refusal(p trace.PermissionResponse) string {
	switch {
	case p.Reason != "":
		return p.Reason
	case p.Outcome == trace.Expired:
		return "Nobody answered in time."
	case p.Outcome == trace.Canceled:
		return "The request was withdrawn."
	}
	return "Not allowed."
}

// permissionSentence says what is asked, for a UI that draws only text. Hidden characters of
// the agent's words are visible.
func permissionSentence(p trace.PermissionRequest) string {
	title := cmp.Or(strings.TrimSpace(p.Title), "the agent wants to run a tool")
	names := make([]string, 0, len(p.Options))
	for _, o := range p.Options {
		names = append(names, quote.Option(o.Name, string(o.OptionKind)))
	}
	return "Permission needed: " + quote.Visible(title+choices(names))
}

func choices(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, " / ") + ")"
}
