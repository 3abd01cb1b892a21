package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// action is what the agent wants the gateway to do: to read or write a file, or to run a
// command.
type action struct {
	method  string
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Limit   int      `json:"limit"`
	Content text     `json:"content"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	Cwd   string `json:"cwd"`
	Bytes *int   `json:"outputByteLimit"`
}

// act takes an action. A call that was allowed covers the action that it has shown. For any
// other action the gateway asks as an agent does: the policy decides, or a grant, or a person.
// A read that the policy allows leaves no record: agents read often.
func (d *Decoder) act(m jsonrpc.Message, t agent.Turns) []agent.Effect {
	c := d.current(t)
	a := action{method: m.Method}
	err := json.Unmarshal(m.Params, &a)
	switch {
	case err != nil:
		err = jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	case c == nil || c.stopped:
		err = jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no turn runs"}
	case d.o.check != nil:
		err = d.o.check(a)
	}
	if err != nil {
		return []agent.Effect{agent.Send{Data: refusal(m.ID, err)}}
	}
	do := func(answer trace.PermissionResponse) json.RawMessage {
		if !answer.Allowed() || answer.UpdatedInput != nil {
			return refusal(m.ID, jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: cmp.Or(answer.Reason, "this is not allowed")})
		}
		if d.o.do == nil {
			return nil
		}
		result, err := d.o.do(a)
		if err != nil {
			return refusal(m.ID, err)
		}
		return reply(m.ID, result)
	}
	reads := a.method == methodRead
	if c.covers(a, d) || reads && d.o.do == nil { // a recording does not show what a policy has allowed
		allowed := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}
		return []agent.Effect{agent.Permit{Native: string(m.ID), Decided: &allowed, Reply: do}}
	}
	tool := a.call(m.ID)
	q := &ask{act: true, call: &call{b: c.b, tool: tool}}
	request := trace.PermissionRequest{
		RequestID: "acp-" + string(m.ID), ToolCallID: tool.ToolCallID, Title: tool.Title, Options: []trace.PermissionOption{
			{ID: "allow", Name: "Allow once", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
			{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
		},
	}
	if !reads {
		c.b.ToolCall(tool)
	}
	q.Asked = agentkit.PermitAs(c.b, string(m.ID), trace.PermissionCheck{Request: request, Call: tool, Quiet: reads}, do)
	if q.Recorded() {
		d.theirs[string(m.ID)] = their{ask: q}
	}
	return []agent.Effect{q.Effect}
}

// call is the call that stands for an action of its own.
func (a action) call(id raw) trace.ToolCall {
	tool := trace.ToolCall{ToolCallID: fmt.Sprintf("client-%s", id), RawName: a.method, ToolKind: a.kind(), Locations: []trace.Location{{Path: a.Path, Line: a.Line}}}
	input := object{"path": a.Path}
	switch a.method {
	case methodRead:
		tool.Name, tool.Title = "read_text_file", "Read "+filepath.Base(a.Path)
		if a.Line > 0 || a.Limit > 0 {
			input["line"], input["limit"] = a.Line, a.Limit
		}
	case methodWrite:
		tool.Name, tool.Title = "write_text_file", "Write "+filepath.Base(a.Path)
		input["content"] = a.Content
	default:
		line := a.commandLine()
		tool.Name, tool.Title, tool.Locations = "terminal", "Run `"+line+"`", nil
		if input = (object{"command": line, "cwd": a.Cwd}); !a.plainEnv() {
			input["env"], tool.Title = a.Env, tool.Title+", with variables of its own"
		}
	}
	tool.Input = agentkit.Encode(input)
	return tool
}

// commandLine is the command line as it runs. A line without arguments may be the whole text of
// a shell.
func (a action) commandLine() string {
	if len(a.Args) == 0 {
		return a.Command
	}
	words := []string{word(a.Command)}
	for _, arg := range a.Args {
		words = append(words, word(arg))
	}
	return strings.Join(words, " ")
}

// word quotes a word of a command line, for people.
func word(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n'\"$`\\;&|<>(){}*?#~!") {
		return quoted(s)
	}
	return s
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
