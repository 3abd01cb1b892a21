package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/permission"
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
		Call    toolCall                 `json:"toolCall"`
		Options []trace.PermissionOption `json:"-"`
		Raw     []struct {
			ID   string           `json:"optionId"`
			Name string           `json:"name"`
			Kind trace.OptionKind `json:"kind"`
		} `json:"options"`
		Meta meta `json:"_meta"`
	}
	err := decodeInto(m.Params, &p)
	c := d.current(t)
	if c == nil || err != nil || p.Call.ID == "" {
		return []agent.Effect{agent.Send{Data: reply(m.ID, cancelled())}}, err
	}
	for _, o := range p.Raw {
		p.Options = append(p.Options, trace.PermissionOption{ID: o.ID, Name: o.Name, OptionKind: o.Kind})
	}
	c.release("")
	s := c.speaker(p.Meta)
	tc, known := c.calls[p.Call.ID]
	if !known {
		s.end()
		tc = d.newCall(c, s, p.Call, p.Meta)
	}
	tc.b.Touch()
	shown := *tc
	asked := &shown // the call as it will run; the agent may go on to show it in its other form
	if restates(p.Call.RawInput, tc.raw) {
		p.Call.RawInput = nil
	}
	d.merge(asked, p.Call)
	asked.tool.Locations = (&call{raw: asked.raw, diffs: asked.diffs}).places(p.Call)
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
	a := &ask{options: p.Options, call: tc, asked: asked}
	return d.put(m.ID, methodPermission, a, cmp.Or(asked.tool.Title, asked.tool.Name), asked.tool, func(r trace.PermissionResponse) json.RawMessage {
		return reply(m.ID, outcome(p.Options, r))
	}), nil
}

// put puts a permission request on record and lets the session wait for its answer.
func (d *Decoder) put(id raw, method string, a *ask, title string, asked trace.ToolCall, answer func(trace.PermissionResponse) json.RawMessage) []agent.Effect {
	a.Asked = agentkit.Permit(a.call.b, string(id), trace.PermissionRequest{
		RequestID: "acp-" + string(id), ToolCallID: asked.ToolCallID, Title: title, Options: a.options,
	}, asked, answer)
	d.theirs[string(id)] = their{method: method, ask: a}
	return []agent.Effect{a.Effect}
}

func cancelled() any { return map[string]any{"outcome": map[string]string{"outcome": "cancelled"}} }

// outcome encodes the answer to a permission request: an option by its id, or else by
// its kind. The protocol cannot change a call's input, so a call that somebody has
// changed is refused.
func outcome(options []trace.PermissionOption, r trace.PermissionResponse) any {
	kinds := []trace.OptionKind{r.OptionKind}
	switch {
	case r.Outcome == trace.Canceled:
		return cancelled()
	case r.Outcome == trace.Expired || r.UpdatedInput != nil:
		r.ChosenOption, kinds = "", []trace.OptionKind{trace.RejectOnce, trace.RejectAlways}
	}
	for _, o := range options {
		if r.ChosenOption != "" && o.ID == r.ChosenOption {
			return selected(o)
		}
	}
	for _, kind := range kinds {
		if i := slices.IndexFunc(options, func(o trace.PermissionOption) bool { return o.OptionKind == kind }); i >= 0 {
			return selected(options[i])
		}
	}
	return cancelled()
}

func selected(o trace.PermissionOption) any {
	return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": o.ID}}
}

// answered takes the reply that was sent to the agent.
func (a *ask) answered(d *Decoder, m jsonrpc.Message) {
	switch {
	case a.form != nil:
		a.Answer(a.form.Answers(m.Result), "")
		return
	case a.act:
		a.acted(m)
		return
	}
	var r struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = decodeInto(m.Result, &r) // an answer of another form is none
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
		a.call.allowed = append(a.call.allowed, a.asked)
	}
	if answer.Allowed() && answer.OptionKind == trace.AllowAlways {
		d.always = append(d.always, a.asked)
	}
}

// action takes a request of the agent's to change a file or to run a command for it. A
// call that was allowed covers what it has shown. The policy judges anything else, and
// a person is asked if the policy does not decide.
func (d *Decoder) action(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	refusal := func(sentence string) json.RawMessage {
		return encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: sentence}})
	}
	c := d.current(t)
	if c == nil || c.stopped {
		return []agent.Effect{agent.Send{Data: refusal("no turn runs")}}, nil
	}
	act := func() json.RawMessage {
		if d.o.Act == nil {
			return nil
		}
		result, err := d.o.Act(m.Method, m.Params)
		if err != nil {
			return encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": failureOf(err)})
		}
		return reply(m.ID, result)
	}
	if c.covers(m.Method, m.Params, d.always) {
		c.b.Touch()
		allowed := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}
		return []agent.Effect{agent.Permit{Native: string(m.ID), Decided: &allowed, Reply: func(trace.PermissionResponse) json.RawMessage { return act() }}}, nil
	}
	tool := actionCall(m)
	c.b.ToolCall(tool)
	a := &ask{act: true, call: &call{b: c.b, tool: tool, whole: true}, options: []trace.PermissionOption{
		{ID: "allow", Name: "Allow once", OptionKind: trace.AllowOnce}, {ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
	}}
	return d.put(m.ID, m.Method, a, tool.Title, tool, func(r trace.PermissionResponse) json.RawMessage {
		if !r.Allowed() || r.UpdatedInput != nil {
			return refusal(cmp.Or(r.Reason, "this is not allowed"))
		}
		return act()
	}), nil
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

// action request of the agent, in the fields that matter.
type actionRequest struct {
	Path    string   `json:"path"`
	Content text     `json:"content"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	Env     raw      `json:"env"`
}

// line is the command line as it runs. A line without arguments may be the whole text of
// a shell.
func (r actionRequest) line() string {
	if len(r.Args) == 0 {
		return r.Command
	}
	return join(append([]string{r.Command}, r.Args...))
}

// changed reports whether the command gets an environment of its own. The id of the
// session, which Goose gives to each command, changes nothing.
func (r actionRequest) changed() bool {
	if !present(r.Env) {
		return false
	}
	var env []struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(r.Env, &env) != nil {
		return true
	}
	for _, v := range env {
		if v.Name != "AGENT_SESSION_ID" {
			return true
		}
	}
	return false
}

// covers reports whether a call that still runs includes the action. What counts is the
// call as it was allowed, whatever the agent has shown of it since.
func (c *turn) covers(method string, params raw, always []*call) bool {
	var r actionRequest
	if json.Unmarshal(params, &r) != nil {
		return false
	}
	for _, tc := range c.calls {
		if tc.done {
			continue
		}
		allowed := slices.Clip(tc.allowed)
		for _, a := range always {
			switch {
			case a.tool.RawName != tc.tool.RawName:
			case method == methodWrite && a.tool.ToolKind == tc.tool.ToolKind:
				allowed = append(allowed, tc) // any file of the workspace, by that tool
			case method == methodTermCreate:
				allowed = append(allowed, a)
			}
		}
		for _, a := range allowed {
			if method == methodWrite && a.writes(r.Path) || method == methodTermCreate && a.runs(r) {
				return true
			}
		}
	}
	return false
}

// writes reports whether a call is to change a file.
func (tc *call) writes(path string) bool {
	changes := []trace.ToolKind{trace.ToolEdit, trace.ToolDelete, trace.ToolMove}
	return slices.Contains(changes, tc.tool.ToolKind) && slices.ContainsFunc(tc.tool.Locations, func(l trace.Location) bool { return l.Path == path })
}

// runs reports whether a call's command is what a terminal is to run, in the directory
// that the call names, if it names one.
func (tc *call) runs(r actionRequest) bool {
	var in struct {
		Command any    `json:"command"`
		Cwd     string `json:"cwd"`
	}
	_ = json.Unmarshal(tc.raw, &in) // an input of another form names no command
	shown, ok := in.Command.(string)
	if !ok || shown == "" || tc.tool.ToolKind != trace.ToolExecute || r.changed() || in.Cwd != "" && r.Cwd != in.Cwd {
		return false
	}
	return shown == r.line() || len(r.Args) == 2 && (r.Args[0] == "-c" || r.Args[0] == "-lc") && permission.IsShell(r.Command) && r.Args[1] == shown
}

// actionCall is the call that stands for an action of its own.
func actionCall(m jsonrpc.Message) trace.ToolCall {
	var r actionRequest
	_ = decodeInto(m.Params, &r) // the policy judges what there is, and the action itself fails
	tool := trace.ToolCall{ToolCallID: fmt.Sprintf("client-%s", m.ID), RawName: m.Method}
	if m.Method == methodWrite {
		tool.ToolKind, tool.Name, tool.Title = trace.ToolEdit, "write_text_file", "Write "+base(r.Path)
		tool.Input = encode(map[string]any{"path": r.Path, "content": r.Content})
		tool.Locations = []trace.Location{{Path: r.Path}}
		return tool
	}
	line, input := r.line(), map[string]any{}
	tool.ToolKind, tool.Name, tool.Title = trace.ToolExecute, "terminal", "Run `"+line+"`"
	if input["command"], input["cwd"] = line, r.Cwd; r.changed() {
		input["env"], tool.Title = r.Env, tool.Title+", with variables of its own"
	}
	tool.Input = encode(input)
	return tool
}
