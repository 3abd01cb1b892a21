package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a request of the agent's that a person or the policy answers.
type ask struct {
	agentkit.Asked
	options []trace.PermissionOption
	call    *call
	asked   *call      // the call as it was asked, which the agent may go on to show in another form
	act     bool       // the gateway acts for the agent, so the reply is a result or an error
	form    *form.Form // nil for a permission
}

// permission takes the agent's question whether a call may run. The call may be new.
func (d *Decoder) permission(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	var p struct {
		Call    toolCall `json:"toolCall"`
		Options []struct {
			ID   string           `json:"optionId"`
			Name string           `json:"name"`
			Kind trace.OptionKind `json:"kind"`
		} `json:"options"`
		Meta raw `json:"_meta"`
	}
	err := decode(m.Params, &p)
	c := d.current(t)
	if c == nil || err != nil || p.Call.ID == "" {
		return []agent.Effect{agent.Send{Data: reply(m.ID, outcome("cancelled", ""))}}, err
	}
	a := &ask{}
	for _, o := range p.Options {
		a.options = append(a.options, trace.PermissionOption{ID: o.ID, Name: o.Name, OptionKind: o.Kind})
	}
	c.release("")
	s := c.speaker(p.Meta)
	if a.call = c.calls[p.Call.ID]; a.call == nil {
		s.end()
		a.call = d.newCall(c, s, p.Call, p.Meta)
	}
	a.asked = d.asked(a.call, p.Call)
	tool := a.asked.tool
	if d.agent.is("claude") || d.agent.is("qwen") && tool.ToolKind == trace.ToolExecute {
		a.options = withAlways(a.options)
	}
	if name, _, _ := strings.Cut(tool.Title, " "); slices.Contains(d.o.LooseTools, name) {
		a.call.b.Emit(trace.Error{Code: "unguarded", Message: "The call of " + name + " was refused: nobody would be asked about what its sub-agent does."})
		return []agent.Effect{agent.Send{Data: reply(m.ID, a.outcome(trace.PermissionResponse{Outcome: trace.Selected}))}}, nil
	}
	a.Asked = agentkit.PermitAs(a.call.b, string(m.ID), trace.PermissionCheck{Request: trace.PermissionRequest{
		RequestID: "acp-" + string(m.ID), ToolCallID: tool.ToolCallID, Title: cmp.Or(tool.Title, tool.Name), Options: a.options,
	}, Call: tool, Granted: d.agent.is("claude") && toolkind.ClaudeOwns(tool.RawName)}, func(r trace.PermissionResponse) json.RawMessage { return reply(m.ID, a.outcome(r)) })
	d.theirs[string(m.ID)] = their{ask: a}
	return []agent.Effect{a.Effect}, nil
}

// withAlways adds an "always", which is a grant of the gateway's: the agent gets the option that
// allows once. Claude Agent and Qwen Code leave their own out where a rule asks: the gateway's rules ask for all calls of
// the one, and for the commands of the other.
func withAlways(options []trace.PermissionOption) []trace.PermissionOption {
	i := slices.IndexFunc(options, func(o trace.PermissionOption) bool { return o.OptionKind == trace.AllowOnce })
	if i < 0 || slices.ContainsFunc(options, func(o trace.PermissionOption) bool { return o.OptionKind == trace.AllowAlways || o.ID == "always" }) {
		return options
	}
	return slices.Insert(options, i+1, trace.PermissionOption{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways})
}

// asked is a call as it will run, by what the agent shows of it when it asks. The agent
// may go on to show the call in its other form.
func (d *Decoder) asked(tc *call, from toolCall) *call {
	asked := *tc
	if restates(from.RawInput, tc.raw) {
		from.RawInput = nil
	}
	d.merge(&asked, from)
	asked.drafted()
	asked.tool.Input = asked.input() // with the diffs that the answer will cover
	asked.tool.Locations = nil
	asked.tool.Locations = asked.places(d, from)
	for _, l := range tc.tool.Locations { // what was shown adds dangers, and proves nothing alone
		if len(asked.tool.Locations) > 0 && !slices.Contains(asked.tool.Locations, l) {
			asked.tool.Locations = append(asked.tool.Locations, l)
		}
	}
	tc.diffs = asked.diffs
	if !tc.whole {
		tc.tool, tc.items, tc.content, tc.raw = asked.tool, asked.items, asked.content, asked.raw
		tc.complete()
	}
	return &asked
}

// outcome encodes the answer to a permission request.
func outcome(outcome, option string) any {
	o := object{"outcome": outcome}
	if option != "" {
		o["optionId"] = option
	}
	return object{"outcome": o}
}

// outcome answers with the chosen option, or else with one that means the same. The
// protocol cannot change a call's input, so a call that somebody has changed is refused.
func (a *ask) outcome(r trace.PermissionResponse) any {
	switch r.Outcome {
	case trace.Canceled:
		return outcome("cancelled", "")
	case trace.Expired:
		r.ChosenOption = ""
	case trace.Selected:
	}
	allowed := r.Allowed() && r.UpdatedInput == nil
	chosen := func(o trace.PermissionOption) bool { return o.ID != "" && o.ID == r.ChosenOption }
	if allowed != r.Allowed() || !slices.ContainsFunc(a.options, chosen) {
		answer, err := permission.FromApproval(a.options, allowed, "")
		if err != nil || answer.ChosenOption == "" {
			return outcome("cancelled", "")
		}
		r.ChosenOption = answer.ChosenOption
	}
	return outcome("selected", r.ChosenOption)
}

// answered takes the reply that was sent to the agent.
func (a *ask) answered(m jsonrpc.Message) {
	switch {
	case a.form != nil:
		a.Answer(a.form.Answers(m.Result), "")
		return
	case a.act:
		a.acted(m)
		return
	}
	r := parse[struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}](m.Result)
	answer := trace.PermissionResponse{Outcome: trace.Canceled}
	if r.Outcome.Outcome == "selected" {
		answer.Outcome, answer.ChosenOption = trace.Selected, r.Outcome.Option
	}
	for _, o := range a.options {
		if o.ID == r.Outcome.Option {
			answer.OptionKind = o.OptionKind
		}
	}
	a.Decide(answer)
	a.call.denied = answer.Outcome == trace.Selected && !answer.Allowed()
	if answer.Allowed() {
		a.call.allowed = append(a.call.allowed, allowance{a.asked, map[string]bool{}})
	}
}

// acted takes the result of what the gateway did for the agent, or the refusal.
func (a *ask) acted(m jsonrpc.Message) {
	r := trace.ToolResult{ToolCallID: a.call.tool.ToolCallID, Status: trace.ToolCompleted, Output: m.Result}
	answer := trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "allow"}
	if m.Error != nil {
		r.Status, r.Error, r.Output = trace.ToolFailed, sentence(m.Error.Message), nil
		if m.Error.Code == jsonrpc.CodeInvalidRequest {
			r.Status, answer.ChosenOption = trace.ToolDenied, "deny"
		}
	}
	a.Decide(answer) // a recording has no other sign of the answer
	a.call.b.ToolResult(r)
}
