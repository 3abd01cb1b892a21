package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	options []option             // of a permission
	values  func(raw) [][]string // reads the reply to questions; nil for a permission
}

// asking is what the agent's requests hold.
type asking struct {
	ItemID    string     `json:"itemId"`
	Kind      string     `json:"kind"`
	Reason    string     `json:"reason"`
	Command   string     `json:"command"`
	CWD       string     `json:"cwd"`
	GrantRoot string     `json:"grantRoot"`
	Network   raw        `json:"networkApprovalContext"`
	Extra     raw        `json:"additionalPermissions"`
	Asked     raw        `json:"permissions"`
	Decisions []raw      `json:"availableDecisions"`
	Questions []question `json:"questions"`

	// what an MCP server asks: a form, or whether one of its tools may run
	form.Form
	Server string `json:"serverName"`
	Meta   struct {
		Kind    string `json:"codex_approval_kind"`
		Persist raw    `json:"persist"`
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
// for the agent waits.
func (d *Decoder) request(l message, p params, t agent.Turns) error {
	if !slices.Contains(methods(), l.Method) {
		return nil
	}
	var w asking
	if err := parse(l.Params, &w); err != nil {
		return err
	}
	c := d.need(p, t)
	if c == nil {
		d.effects = append(d.effects, agent.Send{Data: agentkit.Encode(object{"id": l.ID, "error": object{"code": jsonrpc.CodeInvalidRequest, "message": "no turn runs"}})})
		return nil
	}
	b := d.voice(c, p.ThreadID)
	var a ask
	switch l.Method {
	case askCommand:
		a = permit(b, l.ID, w, d.commandCall(w), decisions(w.Decisions))
	case askPatch:
		a = permit(b, l.ID, w, d.patchCall(w.ItemID, c.running[w.ItemID].Changes, w.GrantRoot), decisions(nil))
	case askPermissions:
		a = permit(b, l.ID, w, d.classify(w.ItemID, "requestPermissions", object{"permissions": w.Asked, "cwd": w.CWD}), grants(w.Asked))
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
	d.effects = append(d.effects, a.Effect)
	return nil
}

// commandCall is the command as it will run. What is asked beside it, such as the
// network or text that is typed into a running command, makes another tool of it.
func (d *Decoder) commandCall(w asking) trace.ToolCall {
	name, input := "commandExecution", command(w.Command, w.CWD)
	switch {
	case w.Kind == "writeStdin":
		name = "write_stdin"
	case w.Kind != "" && w.Kind != "command":
		name = w.Kind
	case !empty(w.Network):
		name, input["network"] = "networkAccess", w.Network
	}
	if !empty(w.Extra) {
		name, input["permissions"] = "requestPermissions", w.Extra
	}
	return d.classify(w.ItemID, name, input)
}

// toolCall is the call that an MCP server's approval is for: the one that runs, if it is
// on record.
func (d *Decoder) toolCall(c *turn, native raw, w asking) trace.ToolCall {
	call := d.classify("mcp-"+string(native), "mcp__"+w.Server+"__"+w.Meta.Tool, w.Meta.Params)
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
	asked := agentkit.Permit(b, string(native), request, call, func(r trace.PermissionResponse) json.RawMessage {
		return line(native, answer(options, r).reply)
	})
	return ask{Asked: asked, options: options}
}

// question is a question of the agent itself.
type question struct {
	ID      string         `json:"id"`
	Header  string         `json:"header"`
	Text    string         `json:"question"`
	Options []trace.Choice `json:"options"`
}

func askQuestions(b *trace.Builder, native raw, questions []question) ask {
	asked := make([]trace.Question, len(questions))
	for i, q := range questions {
		asked[i] = trace.Question{Header: q.Header, Text: q.Text, Choices: q.Options}
	}
	type answers struct {
		Answers []string `json:"answers"`
	}
	type reply struct {
		Answers map[string]answers `json:"answers"`
	}
	a := put(b, native, asked, func(all []trace.Answer) any {
		r := reply{map[string]answers{}}
		for i, answer := range all {
			if answer.Outcome == trace.Selected {
				r.Answers[questions[i].ID] = answers{answer.Values}
			}
		}
		return r
	})
	a.values = func(result raw) [][]string {
		var r reply
		_ = json.Unmarshal(result, &r) // a reply of another form answers nothing
		values := make([][]string, len(questions))
		for i, q := range questions {
			values[i] = r.Answers[q.ID].Answers
		}
		return values
	}
	return a
}

func askForm(b *trace.Builder, native raw, w asking) ask {
	asked := w.Form.Questions()
	if len(w.Schema.Properties) == 0 {
		asked[0].Header = w.Server
	}
	a := put(b, native, asked, func(answers []trace.Answer) any {
		action, content := w.Reply(answers)
		if action != form.Accept {
			return object{"action": action}
		}
		return object{"action": action, "content": content}
	})
	a.values = w.Answers
	return a
}

// put asks questions.
func put(b *trace.Builder, native raw, asked []trace.Question, reply func([]trace.Answer) any) ask {
	for i := range asked {
		asked[i].QuestionID = fmt.Sprintf("question-%s-%d", native, i+1)
	}
	return ask{Asked: agentkit.Ask(b, string(native), asked, func(answers []trace.Answer) json.RawMessage {
		return line(native, reply(answers))
	})}
}

// answered takes the reply that the agent got.
func (d *Decoder) answered(native string, result raw) {
	a, ok := d.asks[native]
	delete(d.asks, native)
	switch {
	case !ok:
	case a.values != nil:
		a.Answer(a.values(result), "")
	default:
		o := choose(a.options, func(o option) bool { return agentkit.SameJSON(o.reply, result) })
		a.Decide(trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: o.ID, Interrupt: o.ID == cancelID, By: "user"})
	}
}

// resolved takes the agent's word that a request needs no answer any more.
func (d *Decoder) resolved(native string) {
	if a, ok := d.asks[native]; ok {
		delete(d.asks, native)
		d.effects = append(d.effects, agent.Withdraw{Native: native})
		a.Cancel("Codex has withdrawn its request.")
	}
}

// line is a reply to the agent.
func line(native raw, result any) raw { return agentkit.Encode(object{"id": native, "result": result}) }

func empty(data raw) bool { return len(data) == 0 || bytes.Equal(data, raw("null")) }
