package claude

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes Claude Code ask before every call. Rules of its settings, of a skill, of a
// command or of a sub-agent, and every mode, let calls run without a can_use_tool request. A hook
// PreToolUse comes before each call, and the answer "ask" brings the request, whatever they say.
// The use of a skill is decided in the hook itself.

// The events of hooks.
const (
	beforeCall = "PreToolUse"
	// beforeShell comes before each shell line in the file of a command or of a skill, since
	// 2.1.332. Its only answers are allow and deny, so the callback stays open while a person
	// decides.
	beforeShell = "PreSkillShellCommand"
)

// skillTool is the tool by which the model uses a skill. Claude Code itself asks only about a skill
// that brings rules, hooks or commands. The answer "ask" would bring a request for each.
const skillTool = "Skill"

// hookSeconds is how long Claude Code waits for the answer to a hook. Without it, it waits 600 s,
// and then refuses. Its timers count no more than 24 days.
const hookSeconds = 20 * 24 * 60 * 60

// hello is the body of the request initialize. Claude Code takes a failed hook for a refusal.
func hello(hooks bool) raw {
	body := map[string]any{"subtype": "initialize"}
	if hooks {
		all := []any{map[string]any{"hookCallbackIds": []string{"gateway"}, "timeout": hookSeconds, "onFailure": "block"}}
		body["hooks"] = map[string]any{beforeCall: all, beforeShell: all}
	}
	return agentkit.Encode(body)
}

// hookInput is what a hook_callback tells.
type hookInput struct {
	Event   string `json:"hook_event_name"`
	Tool    string `json:"tool_name"`
	Input   raw    `json:"tool_input"`
	CallID  string `json:"tool_use_id"`
	Command string `json:"command_name"`
}

// hookReply is the answer to a hook_callback. The zero value leaves the decision to Claude Code.
type hookReply struct {
	Specific *hookDecision `json:"hookSpecificOutput,omitempty"`
}

type hookDecision struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	Input    raw    `json:"updatedInput,omitempty"`
}

// hook takes a hook_callback.
func (d *Decoder) hook(l line, t agent.Turns) {
	var in hookInput
	_ = json.Unmarshal(l.Request.Input, &in) // one of another form is of no known event
	switch {
	case in.Event == beforeShell:
		d.askByHook(l, controlRequest{ToolUseID: "shell-" + l.RequestID, ToolName: cmp.Or(in.Tool, "Bash"), Input: in.Input}, in, t)
	case in.Event != beforeCall:
		d.do(agent.Send{Data: refusalLine(l.RequestID, unsupported)})
	case in.Tool == skillTool:
		d.askByHook(l, controlRequest{ToolUseID: in.CallID, ToolName: in.Tool, Input: in.Input}, in, t)
	default:
		d.do(agent.Send{Data: answerLine(l.RequestID, hookReply{&hookDecision{Event: in.Event, Decision: "ask", Reason: "The gateway decides about every call."}})})
	}
}

// askByHook asks whether the call before which a hook comes may run: a shell line of a command or a
// skill, or the use of a skill. No call of the model runs a shell line, so it gets a call of its own.
func (d *Decoder) askByHook(l line, r controlRequest, in hookInput, t agent.Turns) {
	a := &ask{native: l.RequestID, controlRequest: r, hook: in.Event}
	c := d.need(t)
	if c == nil {
		d.do(agent.Send{Data: a.hookAnswered(trace.PermissionResponse{Outcome: trace.Canceled, Reason: "No turn runs here."})})
		return
	}
	s := d.recordAsked(c, l, r)
	call := d.tools.Call(a.ToolUseID, a.ToolName, a.Input)
	title := cmp.Or(call.Title, a.ToolName)
	if a.hook == beforeShell && in.Command != "" {
		title += ", a line of /" + in.Command
	}
	skill := a.hook == beforeCall
	d.permit(a, s, title, trace.PermissionCheck{Call: call, Quiet: skill, Granted: skill}, a.hookAnswered)
}

// editedLine refuses a line that a person has edited: Claude Code never runs another.
const editedLine = "Claude Code runs a line of a command's file only as it stands there: allow it unchanged, or edit the file."

// hookAnswered encodes the answer to a hook. A skill of which no rule speaks is left to Claude Code.
func (a *ask) hookAnswered(r trace.PermissionResponse) json.RawMessage {
	v := hookDecision{Event: a.hook, Decision: "allow", Input: r.UpdatedInput}
	switch {
	case !r.Allowed():
		v.Decision, v.Reason = "deny", agentkit.Refusal(r)
	case a.hook == beforeCall && r.By == permission.By && r.Rule == "":
		return answerLine(a.native, hookReply{})
	case a.hook == beforeShell && len(r.UpdatedInput) > 0:
		v.Decision, v.Reason, v.Input = "deny", editedLine, nil
	}
	return answerLine(a.native, hookReply{&v})
}

// hookDecided takes the answer to a hook. Claude Code reports no result of a shell line.
func (d *Decoder) hookDecided(a *ask, answer raw, t agent.Turns) {
	var v hookReply
	if json.Unmarshal(answer, &v) != nil || v.Specific == nil {
		d.withdraw(a.native)
		return
	}
	delete(d.asks, a.native)
	r := trace.PermissionResponse{Outcome: trace.Selected, By: "user", ChosenOption: denyOption, Reason: v.Specific.Reason, UpdatedInput: v.Specific.Input}
	result := trace.ToolResult{ToolCallID: a.ToolUseID, Status: trace.ToolDenied, Error: v.Specific.Reason}
	if v.Specific.Decision == "allow" {
		r.ChosenOption = allowOption
		result = trace.ToolResult{ToolCallID: a.ToolUseID, Status: trace.ToolCompleted, Output: agentkit.Encode("Claude Code runs this line, and puts what it prints into the prompt.")}
	}
	if a.Recorded() {
		a.Decide(r)
	}
	if c := d.current(t); a.hook == beforeShell && c != nil && c.b.Turn() == a.Turn() {
		c.b.ToolResult(result)
		delete(d.calls, a.ToolUseID)
	}
}

// accepted reports whether the mode allows a call: acceptEdits allows edits of files in the
// workspace, but not of hidden ones, which programs obey. The mode counts if it was chosen at the
// gateway.
func (d *Decoder) accepted(r trace.PermissionRequest, c trace.ToolCall) bool {
	if d.chosen != acceptEdits || cmp.Or(d.mode, acceptEdits) != acceptEdits || d.files == nil {
		return false
	}
	files := d.files()
	answer, decided := permission.Policy{Rules: []permission.Rule{
		{Paths: []string{".*", ".*/**", "**/.*", "**/.*/**"}, Then: permission.Ask},
		{Kinds: []trace.ToolKind{trace.ToolEdit}, Inside: true, Then: permission.Allow},
	}}.Decide(r, c, permission.Scope{Tools: d.tools, Contains: files.Contains, Resolve: files.Resolve})
	return decided && answer.Allowed()
}
