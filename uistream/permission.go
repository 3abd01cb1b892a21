package uistream

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// approval is a permission request that a person is asked.
type approval struct {
	request trace.PermissionRequest
	call    *call
	// lone is a request with a call of its own.
	lone bool
	done bool
}

func (t *Translator) permission(p trace.PermissionRequest) {
	if p.DecidedBy != "" {
		return
	}
	if _, ok := t.approvals[p.RequestID]; ok {
		return
	}
	a := &approval{request: p}
	t.approvals[p.RequestID] = a
	a.call = t.askedCall(a)
	a.call.pending, a.call.allowed = true, false
	t.say("ask-"+p.RequestID, permissionSentence(p))
	if t.can.approvals {
		a.call.approval = p.RequestID
		t.emit(ToolApprovalRequest{ToolCallID: a.call.id, ApprovalID: p.RequestID})
		return
	}
	t.emit(permissionData(a, "requested", trace.PermissionResponse{}))
}

// askedCall is the call that a request is about, as the client sees it. A call
// can carry one request at a time; another one gets a call of its own.
func (t *Translator) askedCall(a *approval) *call {
	if id := a.request.ToolCallID; id != "" {
		if c := t.call(id); c.state != callSettled && !c.pending {
			t.surface(c)
			return c
		}
	}
	a.lone = true
	id := "permission-" + a.request.RequestID
	for t.calls[id] != nil {
		id += callSuffix
	}
	c := t.call(id)
	c.name, c.title = "permission", a.request.Title
	t.complete(c, marshal(struct {
		Title string `json:"title"`
	}{a.request.Title}))
	return c
}

func (t *Translator) permitted(p trace.PermissionResponse) {
	a, ok := t.approvals[p.RequestID]
	if !ok || a.done {
		return
	}
	a.done = true
	a.call.pending, a.call.allowed = false, p.Allowed()
	switch {
	case !t.can.approvals:
		t.emit(permissionData(a, permissionState(p), p))
	case t.can.approvalResponse && a.call.approval == p.RequestID && a.call.state == callRunning:
		t.emit(ToolApprovalResponse{ApprovalID: p.RequestID, Approved: p.Allowed(), Reason: p.Reason})
	}
	switch {
	case !a.lone:
	case p.Allowed():
		t.callResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolCompleted, Output: json.RawMessage(`"allowed"`)})
	default:
		t.callResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolDenied, Error: "Not allowed."})
	}
}

func permissionState(p trace.PermissionResponse) string {
	switch {
	case p.Outcome != trace.Selected:
		return string(p.Outcome)
	case p.Allowed():
		return "approved"
	default:
		return "denied"
	}
}

// permissionData is how a client that knows no approvals is asked.
func permissionData(a *approval, state string, p trace.PermissionResponse) Data {
	r := a.request
	if r.Options == nil {
		r.Options = []trace.PermissionOption{}
	}
	return Data{Name: "permission", ID: r.RequestID, Value: marshal(struct {
		RequestID  string                   `json:"request_id"`
		ToolCallID string                   `json:"tool_call_id"`
		Title      string                   `json:"title"`
		Options    []trace.PermissionOption `json:"options"`
		State      string                   `json:"state"`
		Chosen     string                   `json:"chosen_option,omitempty"`
		By         string                   `json:"by,omitempty"`
		Reason     string                   `json:"reason,omitempty"`
	}{r.RequestID, a.call.id, r.Title, r.Options, state, p.ChosenOption, p.By, p.Reason})}
}

// permissionSentence says what is asked, for a UI that draws only text.
func permissionSentence(p trace.PermissionRequest) string {
	title := strings.TrimSpace(p.Title)
	if title == "" {
		title = "the agent wants to run a tool"
	}
	names := make([]string, 0, len(p.Options))
	for _, o := range p.Options {
		names = append(names, o.Name)
	}
	return "Permission needed: " + title + choices(names)
}

func choices(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, " / ") + ")"
}
