package agentops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// request is a question or an approval as a frame asks for it.
type request struct {
	native, channel string
	question        bool
	title           string
	choices         []wire.AskAction
	tool            string
	params          json.RawMessage
}

// ask is a request on record that waits for its answer.
type ask struct {
	request
	id     string // for the host
	turn   *turn
	b      *trace.Builder
	call   *call                     // the call that the request is about
	made   bool                      // the call stands only for the approval
	policy *trace.PermissionResponse // the answer of the policy, if it has decided
}

// effect makes the session wait for the answer.
func (a *ask) effect() agent.Effect {
	if a.question {
		return agent.Ask{Native: a.native, QuestionIDs: []string{a.id}}
	}
	return agent.Permit{Native: a.native, RequestID: a.id}
}

func readRequest(f wire.InteractivePrompt) request {
	p := f.Prompt
	q := request{
		native: p.ID, question: p.Type != wire.AskApproval, title: p.Title, choices: p.Actions,
		tool: p.Context.ToolID, params: p.Context.Params, channel: f.Channel.Name(""),
	}
	if f.Channel == (wire.Channel{}) {
		q.channel = p.Context.Channel.Name(p.Context.ThreadID)
	}
	if q.question {
		q.title = strings.TrimSpace(q.title + "\n" + p.Body)
		return q
	}
	q.title = cmp.Or(p.Body, p.Context.Summary, p.Title)
	if !slices.ContainsFunc(q.choices, func(c wire.AskAction) bool { return c.ID == wire.ActionApprove }) {
		q.choices = []wire.AskAction{{ID: wire.ActionApprove, Label: "Approve"}, {ID: wire.ActionDeny, Label: "Deny"}}
	}
	return q
}

// ask takes a request. The session agent repeats open requests after each greeting.
func (d *Decoder) ask(f wire.InteractivePrompt, to agent.Turns) {
	q := readRequest(f)
	if a := d.asks[q.native]; a != nil {
		d.effects = append(d.effects, a.effect())
		return
	}
	_, past := d.messages[q.native] // its turn is over
	if past || len(q.native) > longestID || d.asking() >= mostAsks {
		return
	}
	known := slices.IndexFunc(d.waiting, func(id string) bool { return sameRequest(id, q.native) })
	t := d.active(q.channel)
	if t == nil && q.channel == "" {
		t = d.about("", wire.Channel{})
	}
	if t == nil && (known >= 0 || !d.leftOver(q)) {
		t = d.begin(d.next(q.channel, true), q.channel, to)
	}
	if t == nil {
		return
	}
	t.dismiss(q.native)
	switch {
	case known >= 0:
		a := d.newAsk(q, t)
		a.id, a.call = d.waiting[known], cmp.Or(a.call, &call{id: q.native, key: q.native, name: q.title})
		d.waiting = slices.Delete(d.waiting, known, known+1)
		d.effects = append(d.effects, a.effect())
	case t.course == stopping, t.b.Over():
	case t.early(q):
		t.deferred = append(t.deferred, q)
	default:
		d.put(q, t)
	}
}

// sameRequest reports whether a request on record is that of the upstream's id: the id on record may
// end with a word of the gateway.
func sameRequest(id, native string) bool {
	rest, ok := strings.CutPrefix(id, native)
	return ok && native != "" && (rest == "" || rest[0] == '-' && !strings.Contains(rest[1:], "-"))
}

// leftOver reports whether nobody is at work who might ask a request. The session agent repeats
// the requests of a turn that was stopped until they run out.
func (d *Decoder) leftOver(q request) bool {
	return d.greeted && !d.unseen && d.first(func(t *turn) bool { return t.channel == q.channel && t.phase == given }) == nil
}

func (d *Decoder) newAsk(q request, t *turn) *ask {
	a := &ask{request: q, turn: t, b: t.b, call: t.message.about(q)}
	d.asks[a.native] = a
	return a
}

// put puts a request on record.
func (d *Decoder) put(q request, t *turn) {
	a := d.newAsk(q, t)
	if a.call != nil {
		t.message.write(d, a.call)
	}
	if a.question {
		asked := trace.Question{QuestionID: a.native, Text: q.title}
		for _, c := range q.choices {
			asked.Choices = append(asked.Choices, trace.Choice{Label: cmp.Or(c.Label, c.ID)})
		}
		if a.call != nil {
			asked.ToolCallID = a.call.key
		}
		a.id = a.b.Question(asked)
	} else {
		a.putApproval(d)
	}
	d.effects = append(d.effects, a.effect())
}

// putApproval asks for an approval. A call that stands for the approval is made if the agent
// has none.
func (a *ask) putApproval(d *Decoder) {
	if a.call == nil {
		a.made = true
		a.call = &call{id: a.native, key: a.native, name: cmp.Or(a.tool, "approval"), args: a.params}
		a.b.ToolCall(a.call.record(d, a.params))
	}
	r := trace.PermissionRequest{RequestID: a.native, ToolCallID: a.call.key, Title: a.title}
	for _, c := range a.choices {
		kind := trace.AllowOnce
		if c.ID != wire.ActionApprove {
			kind = trace.RejectOnce
		}
		r.Options = append(r.Options, trace.PermissionOption{ID: c.ID, Name: cmp.Or(c.Label, c.ID), OptionKind: kind})
	}
	id, answer, decided := a.b.PermissionRequest(r, a.call.as(a.request, d))
	if a.id = id; decided {
		a.policy = &answer
		a.close(answer.Allowed())
	}
}

// as is the call with the parameters of a request, if these are others than the call has shown.
// A tool that calls other tools has their parameters below a key of its own.
func (c *call) as(q request, d *Decoder) trace.ToolCall {
	shown, input := c.args, q.params
	if c.name != q.tool {
		parts := map[string]json.RawMessage{}
		_ = json.Unmarshal(c.args, &parts) // it was an object when its tool_id was read
		if shown = parts["params"]; len(q.params) > 0 {
			parts["params"] = q.params
			input = agentkit.Encode(parts)
		}
	}
	if len(q.params) == 0 || sameParams(shown, q.params) {
		return trace.ToolCall{}
	}
	asked := c.record(d, input)
	asked.ToolCallID = ""
	return asked
}

// sameParams compares parameters but for the order of their keys. Models also write parameters
// as a text. A repeated key makes a difference.
func sameParams(shown, asked json.RawMessage) bool {
	var text string
	if json.Unmarshal(shown, &text) == nil {
		shown = json.RawMessage(text)
	}
	if !hasArgs(shown) && !hasArgs(asked) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, shown) == nil && json.Compact(&y, asked) == nil && x.Len() == y.Len() && agentkit.SameJSON(shown, asked)
}

// close ends the call that stands for an approval.
func (a *ask) close(allowed bool) {
	a.call.denied = !allowed
	switch {
	case !a.made:
	case allowed:
		a.b.ToolResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolCompleted, Output: json.RawMessage(`{"approved":true}`)})
	default:
		a.b.ToolResult(trace.ToolResult{ToolCallID: a.call.key, Status: trace.ToolDenied, Error: "The action was not approved."})
	}
}

// answer is the answer to a request: an action, or a value.
type answer struct {
	action, value string
	by            string
	expired       bool
}

// settle puts an answer on record, unless one is.
func (d *Decoder) settle(native string, v answer) {
	for t := range d.running() {
		d.overtaken(t, native)
	}
	a := d.asks[native]
	if a == nil {
		return
	}
	delete(d.asks, native)
	d.effects = append(d.effects, agent.Withdraw{Native: native})
	switch {
	case a.question:
		a.b.Answer(a.read(d, v))
	case a.policy == nil:
		r := trace.PermissionResponse{RequestID: a.id, Outcome: trace.Expired}
		if !v.expired {
			r = trace.PermissionResponse{RequestID: a.id, Outcome: trace.Selected, ChosenOption: cmp.Or(v.action, v.value), OptionKind: trace.RejectOnce, By: v.by}
			if r.ChosenOption == wire.ActionApprove {
				r.OptionKind = trace.AllowOnce
			}
		}
		a.b.PermissionResponse(r)
		a.close(r.Allowed())
	}
}

// read makes the record of an answer. A prompt that was taken for the answer does not run.
func (a *ask) read(d *Decoder, v answer) trace.Answer {
	if v.expired {
		return trace.Answer{QuestionID: a.id, Outcome: trace.Expired}
	}
	value := v.value
	for _, c := range a.choices {
		if value == "" && c.ID == v.action {
			value = cmp.Or(c.Label, c.ID)
		}
	}
	value = cmp.Or(value, v.action)
	if t := d.first(func(t *turn) bool { return a.isAnswer(d, t, v, value) }); t != nil {
		d.drop(t)
		if t.b != nil {
			t.b.End(trace.Stop{Reason: "answered", Outcome: trace.OutcomeCompleted})
		}
	}
	return trace.Answer{QuestionID: a.id, Outcome: trace.Selected, Values: []string{value}, By: v.by}
}

// isAnswer reports whether the server took a prompt of this gateway for an answer. The server does
// so with a prompt of the owner, if a question is open in the prompt's channel and the type of that
// channel is not web. No frame says that such a prompt waits.
func (a *ask) isAnswer(d *Decoder, p *turn, v answer, value string) bool {
	return p.answers && p.phase == sent && p.channel == a.turn.channel && strings.TrimSpace(p.content) == strings.TrimSpace(value) &&
		(v.by == cmp.Or(p.sender, d.user) || p.sender == "" && d.user == "")
}
