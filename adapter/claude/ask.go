package claude

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// The options of a permission request.
const (
	allowOption  = "allow"
	alwaysOption = "always"
	denyOption   = "deny"
)

// questionTool is the tool by which the agent asks the user something. Its
// permission request is the question.
const questionTool = "AskUserQuestion"

// ask is a can_use_tool request that waits for its answer.
type ask struct {
	agentkit.Asked
	controlRequest
	native    string // the agent's id of the request
	hook      string // the event of the hook that waits, or ""
	questions []question
}

// question is one of the questions of an AskUserQuestion call.
type question struct {
	Question, Header string
	MultiSelect      bool
	Options          []trace.Choice
}

// canUseTool takes the agent's question whether a call may run.
func (d *Decoder) canUseTool(l line, t agent.Turns) {
	r := l.Request
	a := &ask{native: l.RequestID, controlRequest: r}
	c := d.need(t)
	if c == nil {
		d.do(agent.Send{Data: answerLine(a.native, permissionReply{Behavior: "deny", Message: "No turn runs here."})})
		return
	}
	s := d.recordAsked(c, l, r)
	var in struct{ Questions []question }
	if r.ToolName == questionTool && json.Unmarshal(r.Input, &in) == nil && len(in.Questions) > 0 {
		a.questions = in.Questions
		d.asks[a.native] = a
		a.Asked = agentkit.Ask(s.b, a.native, a.asked(), a.answered)
		d.do(a.Effect)
		return
	}
	asked := d.tools.Call(r.ToolUseID, r.ToolName, r.Input) // a hook of the user's may have changed the input since the call was shown
	d.permit(a, s, cmp.Or(asked.Title, r.ToolName), trace.PermissionCheck{Call: asked, Quiet: toolkind.ClaudeOwns(r.ToolName), Granted: toolkind.ClaudeOwns(r.ToolName)}, a.permitted)
}

// recordAsked puts the call on record that a request is about, and returns who makes it.
func (d *Decoder) recordAsked(c *turn, l line, r controlRequest) *speaker {
	s := d.speaker(c, l.Parent)
	if known, ok := d.calls[r.ToolUseID]; ok {
		s = d.speaker(c, known.parent)
	}
	if r.ToolUseID != "" {
		d.wholeCall(c, s, d.tools.Call(r.ToolUseID, r.ToolName, nil), r.Input)
	}
	return s
}

// permit asks for a permission.
func (d *Decoder) permit(a *ask, s *speaker, title string, check trace.PermissionCheck, reply func(trace.PermissionResponse) json.RawMessage) {
	check.Request = trace.PermissionRequest{RequestID: a.native, ToolCallID: a.ToolUseID, Title: title, Options: []trace.PermissionOption{
		{ID: allowOption, Name: "Allow once", OptionKind: trace.AllowOnce},
		{ID: alwaysOption, Name: "Always allow", OptionKind: trace.AllowAlways}, // the session keeps it, and Claude Code asks again
		{ID: denyOption, Name: "Deny", OptionKind: trace.RejectOnce},
	}}
	check.Granted = check.Granted || d.accepted(check.Request, check.Call)
	d.asks[a.native] = a
	a.Asked = agentkit.PermitAs(s.b, a.native, check, reply)
	d.do(a.Effect)
}

// asked are the questions as the user sees them.
func (a *ask) asked() []trace.Question {
	all := make([]trace.Question, len(a.questions))
	for i, q := range a.questions {
		all[i] = trace.Question{ToolCallID: a.ToolUseID, Header: q.Header, Text: q.Question, Choices: q.Options, Multiple: q.MultiSelect}
	}
	return all
}

// withdraw cancels a request that waits for an answer.
func (d *Decoder) withdraw(native string) {
	if a, ok := d.asks[native]; ok {
		delete(d.asks, native)
		d.do(agent.Withdraw{Native: native})
		a.Cancel("")
	}
}

// permissionReply is the answer to a can_use_tool request. UpdatedPermissions change Claude Code's
// own rules, often for more than this call. Only recordings have them.
type permissionReply struct {
	Behavior           string `json:"behavior"`
	UpdatedInput       raw    `json:"updatedInput,omitempty"`
	UpdatedPermissions []raw  `json:"updatedPermissions,omitempty"`
	Message            string `json:"message,omitempty"`
	Interrupt          bool   `json:"interrupt,omitempty"`
}

// answer takes the host's answer as it stands in a recording.
func (d *Decoder) answer(r controlResponse, t agent.Turns) {
	a, ok := d.asks[r.RequestID]
	if !ok || plainText(r.Error) == sameID {
		return // an answer to something else
	}
	if a.hook != "" {
		d.hookDecided(a, r.Response, t)
		return
	}
	var v permissionReply
	if r.Subtype != "success" || json.Unmarshal(r.Response, &v) != nil || v.Behavior != "allow" && v.Behavior != "deny" {
		d.withdraw(r.RequestID) // a refusal to answer
		return
	}
	response := trace.PermissionResponse{Outcome: trace.Selected, By: "user", Reason: v.Message, Interrupt: v.Interrupt}
	switch {
	case v.Behavior == "deny":
		response.ChosenOption = denyOption
	case len(v.UpdatedPermissions) > 0:
		response.ChosenOption = alwaysOption
	default:
		response.ChosenOption = allowOption
	}
	if v.Behavior == "allow" && len(v.UpdatedInput) > 0 && !agentkit.SameJSON(v.UpdatedInput, a.Input) {
		response.UpdatedInput = v.UpdatedInput
	}
	delete(d.asks, a.native)
	switch {
	case len(a.questions) > 0:
		a.answers(v)
	case a.Recorded():
		a.Decide(response)
	}
}

// answers puts the answers to questions on record.
func (a *ask) answers(v permissionReply) {
	var in struct{ Answers map[string]string }
	if v.Behavior == "allow" {
		_ = json.Unmarshal(v.UpdatedInput, &in) // an input of another form answers nothing
	}
	values := make([][]string, len(a.questions))
	for i, q := range a.questions {
		if text, ok := in.Answers[q.Question]; ok {
			values[i] = q.values(text)
		}
	}
	a.Answer(values, "user")
}

// values takes apart an answer that chose more than one label.
func (q question) values(said string) []string {
	if !q.MultiSelect {
		return []string{said}
	}
	chosen := strings.Split(said, ", ")
	for _, label := range chosen {
		if !slices.ContainsFunc(q.Options, func(c trace.Choice) bool { return c.Label == label }) {
			return []string{said}
		}
	}
	return chosen
}
