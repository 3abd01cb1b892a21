package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a request of the agent that waits for its answer: a permission or questions.
type ask struct {
	agentkit.Asked
	record func(reply raw) // puts the answer on record that the agent got
}

// asking is what the agent's requests hold.
type asking struct {
	ItemID, Kind, Reason, Command, CWD, GrantRoot              string
	NetworkApprovalContext, AdditionalPermissions, Permissions raw
	AvailableDecisions                                         []raw
	Questions                                                  []question

	// what an MCP server asks: a form, or whether one of its tools may run
	form.Form
	ServerName string
	Meta       struct {
		Kind    string `json:"codex_approval_kind"`
		Persist raw
		Tool    string `json:"tool_name"`
		Params  raw    `json:"tool_params"`
	} `json:"_meta"`
}

// The requests of the agent that the Decoder answers. The connection refuses others.
const (
	askCommand     = "item/commandExecution/requestApproval"
	askPatch       = "item/fileChange/requestApproval"
	askPermissions = "item/permissions/requestApproval"
	askUser        = "item/tool/requestUserInput"
	askForServer   = "mcpServer/elicitation/request"
)

func methods() []string {
	return []string{askCommand, askPatch, askPermissions, askUser, askForServer}
}

// request takes a request of the agent. A request that belongs to no turn is refused,
// for the agent waits. So is one whose id an earlier request has that waits: the answer to the
// earlier one would count for both.
func (d *Decoder) request(l message, p params, t agent.Turns) error {
	if bytes.ContainsAny(l.ID[:1], "{[") {
		return errors.New("the id of a request is neither a number nor a string") // it may be written in several ways
	}
	if _, waits := d.asks[string(l.ID)]; waits {
		d.refused = true
		d.do(agent.Send{Data: refusal(l.ID, jsonrpc.SameID())})
		return nil
	}
	if !slices.Contains(methods(), l.Method) {
		return nil
	}
	var w asking
	if err := parse(l.Params, &w); err != nil {
		return err
	}
	c := d.need(p, t)
	if c == nil {
		d.do(agent.Send{Data: refusal(l.ID, jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no turn runs"})})
		return nil
	}
	b := d.voice(c, p.ThreadID)
	var a ask
	switch l.Method {
	case askCommand:
		a = permit(b, l.ID, w, d.commandCall(w), decisions(w.AvailableDecisions))
	case askPatch:
		a = permit(b, l.ID, w, d.patchCall(w.ItemID, c.running[w.ItemID].Changes, w.GrantRoot), decisions(nil))
	case askPermissions:
		a = permit(b, l.ID, w, d.classify(w.ItemID, "requestPermissions", object{"permissions": w.Permissions, "cwd": w.CWD}), grants(w.Permissions))
	case askUser:
		a = askQuestions(b, l.ID, w.Questions)
	case askForServer:
		if w.Meta.Kind == "mcp_tool_call" {
			a = permit(b, l.ID, w, d.toolCall(c, l.ID, w), toolGrants(w.Meta.Persist))
		} else {
			a = askForm(b, l.ID, w)
		}
	}
	d.asks[string(l.ID)] = a
	d.do(a.Effect)
	return nil
}

// commandCall is the command as it will run. A request for more, such as the network, or
// text for a running command, makes another tool of the command.
func (d *Decoder) commandCall(w asking) trace.ToolCall {
	name, input := "commandExecution", command(w.Command, w.CWD)
	switch {
	case w.Kind == "writeStdin":
		name = "write_stdin"
	case w.Kind != "" && w.Kind != "command":
		name = w.Kind
	case !empty(w.NetworkApprovalContext):
		name, input["network"] = "networkAccess", w.NetworkApprovalContext
	}
	if !empty(w.AdditionalPermissions) {
		name, input["permissions"] = "requestPermissions", w.AdditionalPermissions
	}
	return d.classify(w.ItemID, name, input)
}

// toolCall is the call that an MCP server's approval is for: the one that runs, if it is
// on record.
func (d *Decoder) toolCall(c *turn, native raw, w asking) trace.ToolCall {
	call := d.classify("mcp-"+string(native), "mcp__"+w.ServerName+"__"+w.Meta.Tool, w.Meta.Params)
	call.Title = cmp.Or(w.Message, call.Title)
	for id, it := range c.running {
		if r := d.call(it); r.RawName == call.RawName && agentkit.SameJSON(r.Input, call.Input) {
			call.ToolCallID = id
		}
	}
	return call
}

// permit asks for a permission.
func permit(b *trace.Builder, native raw, w asking, call trace.ToolCall, options []option) ask {
	title := cmp.Or(call.Title, call.Name)
	if w.Reason != "" {
		title += " (" + w.Reason + ")"
	}
	request := trace.PermissionRequest{RequestID: "request-" + string(native), ToolCallID: call.ToolCallID, Title: title}
	for _, o := range options {
		request.Options = append(request.Options, o.PermissionOption)
	}
	a := agentkit.Permit(b, string(native), request, call, func(r trace.PermissionResponse) json.RawMessage {
		return line(native, answer(options, r).reply)
	})
	return ask{a, func(reply raw) {
		o := given(options, reply)
		a.Decide(trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: o.ID, OptionKind: o.OptionKind, Interrupt: o.ID == cancelID, By: "user"})
	}}
}

// question is a question of the agent itself.
type question struct {
	ID, Header, Question string
	Options              []trace.Choice
}

func askQuestions(b *trace.Builder, native raw, questions []question) ask {
	asked := make([]trace.Question, len(questions))
	for i, q := range questions {
		asked[i] = trace.Question{Header: q.Header, Text: q.Question, Choices: q.Options}
	}
	encode := func(answers []trace.Answer) any {
		all := object{}
		for i, a := range answers {
			if a.Outcome == trace.Selected {
				all[questions[i].ID] = object{"answers": a.Values}
			}
		}
		return object{"answers": all}
	}
	return put(b, native, asked, encode, func(reply raw) [][]string {
		var r struct {
			Answers map[string]struct{ Answers []string }
		}
		_ = json.Unmarshal(reply, &r) // a reply of another form answers nothing
		values := make([][]string, len(questions))
		for i, q := range questions {
			values[i] = r.Answers[q.ID].Answers
		}
		return values
	})
}

func askForm(b *trace.Builder, native raw, w asking) ask {
	asked := w.Form.Questions()
	if len(w.Schema.Properties) == 0 {
		asked[0].Header = w.ServerName
	}
	encode := func(answers []trace.Answer) any {
		action, content := w.Reply(answers)
		if action != form.Accept {
			return object{"action": action}
		}
		return object{"action": action, "content": content}
	}
	return put(b, native, asked, encode, w.Answers)
}

// put asks questions. encode makes the reply of the answers, and decode reads it.
func put(b *trace.Builder, native raw, asked []trace.Question, encode func([]trace.Answer) any, decode func(raw) [][]string) ask {
	for i := range asked {
		asked[i].QuestionID = fmt.Sprintf("question-%s-%d", native, i+1)
	}
	a := agentkit.Ask(b, string(native), asked, func(answers []trace.Answer) json.RawMessage { return line(native, encode(answers)) })
	return ask{a, func(reply raw) { a.Answer(decode(reply), "") }}
}

// answered takes the reply that the agent got.
func (d *Decoder) answered(native string, reply raw) {
	if a, ok := d.asks[native]; ok {
		delete(d.asks, native)
		a.record(reply)
	}
}

// resolved takes the agent's word that a request needs no answer any more.
func (d *Decoder) resolved(native string) {
	if a, ok := d.asks[native]; ok {
		delete(d.asks, native)
		d.do(agent.Withdraw{Native: native})
		a.Cancel("Codex has withdrawn its request.")
	}
}

// line is a reply to the agent.
func line(native raw, result any) raw { return agentkit.Encode(object{"id": native, "result": result}) }

// refusal is the error with which a request of the agent ends.
func refusal(native raw, e jsonrpc.Error) raw {
	return agentkit.Encode(object{"id": native, "error": e})
}

func empty(data raw) bool { return len(data) == 0 || bytes.Equal(data, raw("null")) }
