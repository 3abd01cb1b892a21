package session

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

// askAbout asks a question of the gateway's own. The question is on record as a call of the agent, and askAbout waits for the
// decision. once and no are the names of two answers.
func (t *turn) askAbout(tool, title string, input json.RawMessage, once, no string) (allowed bool) {
	id := tool + "_" + newID(t.session.hub.Now())
	call := trace.ToolCall{ToolCallID: id, RawName: tool, Name: tool, ToolKind: trace.ToolOther, Title: title, Input: input}
	t.builder.ToolCall(call)
	request, answer, decided := t.builder.PermissionRequest(trace.PermissionRequest{
		ToolCallID: id, Title: title,
		Options: []trace.PermissionOption{
			{ID: "once", Name: once, OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "reject", Name: no, OptionKind: trace.RejectOnce},
		},
	}, call)
	if !decided {
		answer, _ = t.builder.Wait(t.ctx, request).(trace.PermissionResponse)
	}
	if !answer.Allowed() || len(answer.UpdatedInput) > 0 { // another input than the one that was shown means nothing here
		t.builder.Denied(id, "")
		return false
	}
	t.builder.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: json.RawMessage(`"allowed"`)})
	return true
}
