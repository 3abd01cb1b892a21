package codex

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a request of the agent that waits for its answer: a permission or questions.
type ask struct {
	b         *trace.Builder
	native    raw    // the agent's id of the request
	id        string // of the permission request
	options   []option
	questions []question
	ids       []string             // of the questions
	result    func([][]string) raw // encodes the answers to the questions; nil for a permission
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
	elicitation
}

// methods are the requests of the agent that the Decoder answers.
func methods() []string {
	return []string{
		"item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval",
		"item/tool/requestUserInput", "mcpServer/elicitation/request",
	}
}

// request takes a request of the agent. A request that belongs to no turn is refused,
// for the agent waits.
func (d *Decoder) request(l message, p params, t agent.Turns) error {
	if !slices.Contains(methods(), l.Method) {
		return nil // the connection refuses what it does not know
	}
	var w asking
	if err := json.Unmarshal(orNull(l.Params), &w); err != nil {
		return err
	}
	c := d.need(p, t)
	a := &ask{native: l.ID}
	if c == nil {
		d.effects = append(d.effects, agent.Send{Data: encode(object{"id": l.ID, "error": object{"code": jsonrpc.CodeInvalidRequest, "message": "no turn runs"}})})
		return nil
	}
	var call trace.ToolCall
	switch l.Method {
	case "item/commandExecution/requestApproval":
		call, a.options = d.commandCall(w), decisions(w.Decisions)
	case "item/fileChange/requestApproval":
		call, a.options = d.patchCall(w.ItemID, c.patches[w.ItemID], w.GrantRoot), decisions(nil)
	case "item/permissions/requestApproval":
		call, a.options = d.classify(w.ItemID, "requestPermissions", encode(object{"permissions": orNull(w.Asked), "cwd": w.CWD})), grants(w.Asked)
	case "item/tool/requestUserInput":
		a.userInput(w.Questions)
	case "mcpServer/elicitation/request":
		call = d.elicit(c, a, w.elicitation)
	}
	a.b = d.voice(c, p.ThreadID)
	d.asks[string(l.ID)] = a
	if a.result != nil {
		d.effects = append(d.effects, a.put())
		return nil
	}
	d.effects = append(d.effects, a.permit(call, w.Reason))
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
	return d.classify(w.ItemID, name, encode(input))
}

// permit asks for the permission.
func (a *ask) permit(call trace.ToolCall, reason string) agent.Permit {
	title := orElse(call.Title, call.Name)
	if reason != "" {
		title += " (" + reason + ")"
	}
	request := trace.PermissionRequest{RequestID: "request-" + string(a.native), ToolCallID: call.ToolCallID, Title: title}
	for _, o := range a.options {
		request.Options = append(request.Options, o.PermissionOption)
	}
	id, answer, decided := a.b.PermissionRequest(request, call)
	a.id = id
	e := agent.Permit{Native: string(a.native), RequestID: id, Reply: func(r trace.PermissionResponse) json.RawMessage { return a.line(a.reply(r)) }}
	if decided {
		e.Decided = &answer
	}
	return e
}

// reply is what the agent is told. Codex cannot run a call with another input than its
// own, so a permission for another input declines.
func (a *ask) reply(r trace.PermissionResponse) raw {
	stop := r.Interrupt || r.Outcome == trace.Canceled
	for _, o := range a.options {
		switch {
		case stop && o.ID == cancelID, !stop && r.Outcome == trace.Selected && o.ID == r.ChosenOption && len(r.UpdatedInput) == 0:
			return o.reply
		}
	}
	return a.declined()
}

// declined is the reply that allows nothing.
func (a *ask) declined() raw {
	for _, o := range a.options {
		if o.ID == declineID {
			return o.reply
		}
	}
	return nil // every list of options has one that declines
}

// answered takes the reply that the agent got.
func (a *ask) answered(result raw) {
	if a.b.Over() {
		return
	}
	if a.result != nil {
		a.settle(a.recorded(result))
		return
	}
	response := trace.PermissionResponse{RequestID: a.id, Outcome: trace.Selected, By: "user"}
	for _, o := range a.options {
		if bytes.Equal(canonical(o.reply), canonical(result)) || o.ID == declineID && response.ChosenOption == "" {
			response.ChosenOption, response.OptionKind, response.Interrupt = o.ID, o.OptionKind, o.ID == cancelID
		}
	}
	a.b.PermissionResponse(response)
}

// resolved takes the agent's word that a request needs no answer any more.
func (d *Decoder) resolved(native string) {
	a := d.asks[native]
	if a == nil {
		return
	}
	delete(d.asks, native)
	d.effects = append(d.effects, agent.Withdraw{Native: native})
	if a.result == nil {
		a.b.PermissionResponse(trace.PermissionResponse{RequestID: a.id, Outcome: trace.Canceled, Reason: "Codex has withdrawn its request."})
		return
	}
	a.settle(nil)
}

// line is a reply to the agent.
func (a *ask) line(result raw) raw { return encode(object{"id": a.native, "result": result}) }

// canonical is JSON with its keys in order and without space.
func canonical(data raw) raw {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return data
	}
	return encode(v)
}

func empty(data raw) bool { return len(data) == 0 || string(data) == "null" }

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
