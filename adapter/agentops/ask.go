package agentops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// ask is a question or an approval that waits for its answer.
type ask struct {
	native   string // the upstream's id
	id       string // ours, for the host
	question bool
	run      *run
	b        *trace.Builder
	call     *call // the call that an approval is about
	made     bool  // the call stands only for the approval
	choices  []wire.AskAction

	// answer is the policy's, if it decided.
	answer  trace.PermissionResponse
	decided bool
}

// asking is what a frame asks.
type asking struct {
	native, channel string
	question        bool
	title           string
	choices         []wire.AskAction
	tool            string
	params          json.RawMessage
}

// ask puts a question or an approval. It is told again after each greeting.
func (d *Decoder) ask(f wire.InteractivePrompt, t agent.Turns) {
	q := readAsk(f)
	if d.asks[q.native] != nil && len(d.fresh.again) < mostAsks {
		d.fresh.again = append(d.fresh.again, q.native)
	}
	if d.asks[q.native] != nil || len(q.native) > longestID || d.asking() >= mostAsks {
		return
	}
	if _, past := d.turns[q.native]; past {
		return // its turn is over
	}
	r := d.active(q.channel)
	if r == nil && q.channel == "" && len(d.runs) > 0 {
		r = d.runs[len(d.runs)-1]
	}
	if r == nil {
		if d.leftOver(q) {
			return
		}
		if r = d.begin(d.next(q.channel, true), q.channel, t); r == nil {
			return
		}
	}
	r.dismiss(q.native) // it is told again
	switch {
	case r.course == stopping, r.b.Over():
	case r.early(q):
		r.waits = append(r.waits, q)
	default:
		d.put(q, r)
	}
}

// leftOver reports whether nobody is at work who might ask that: today's session agent
// tells whoever connects what was asked in a turn that was stopped, until it runs out.
func (d *Decoder) leftOver(q asking) bool {
	asks := func(p *prompt) bool { return p.channel == q.channel && p.phase == given }
	return d.greeted && !d.unseen && !slices.ContainsFunc(d.prompts, asks)
}

// put puts on record what is asked in a run.
func (d *Decoder) put(q asking, r *run) {
	a := &ask{native: q.native, question: q.question, run: r, b: r.b, choices: q.choices}
	if r.turn != nil {
		a.call = r.turn.about(q)
	}
	if a.question {
		a.putQuestion(d, q)
	} else {
		a.putApproval(d, q)
	}
	if !a.decided {
		d.asks[a.native] = a
	}
	if d.fresh.asks = append(d.fresh.asks, a); len(d.fresh.asks) > mostEffects {
		d.fresh.asks = slices.Delete(d.fresh.asks, 0, 1)
	}
}

func readAsk(f wire.InteractivePrompt) asking {
	p := f.Prompt
	q := asking{
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
		q.choices = approvalChoices()
	}
	return q
}

func approvalChoices() []wire.AskAction {
	return []wire.AskAction{{ID: wire.ActionApprove, Label: "Approve"}, {ID: wire.ActionDeny, Label: "Deny"}}
}

func (a *ask) putQuestion(d *Decoder, q asking) {
	asked := trace.Question{QuestionID: a.native, Text: q.title}
	for _, c := range q.choices {
		asked.Choices = append(asked.Choices, trace.Choice{Label: cmp.Or(c.Label, c.ID)})
	}
	if a.call != nil {
		a.run.turn.write(d, a.call)
		asked.ToolCallID = a.call.key
	}
	a.id = a.b.Question(asked)
}

// putApproval asks for an approval. One without a call of the agent gets a call that
// stands for it.
func (a *ask) putApproval(d *Decoder, q asking) {
	if a.call == nil {
		a.made = true
		a.call = &call{id: a.native, key: a.native, name: cmp.Or(q.tool, "approval"), args: q.params}
		tool := d.tools.Classify(a.call.name, q.params)
		input := q.params
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		a.b.ToolCall(trace.ToolCall{ToolCallID: a.native, RawName: a.call.name, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input})
	} else {
		a.run.turn.write(d, a.call)
	}
	request := trace.PermissionRequest{RequestID: a.native, ToolCallID: a.call.key, Title: q.title}
	for _, c := range q.choices {
		kind := trace.AllowOnce
		if c.ID != wire.ActionApprove {
			kind = trace.RejectOnce
		}
		request.Options = append(request.Options, trace.PermissionOption{ID: c.ID, Name: cmp.Or(c.Label, c.ID), OptionKind: kind})
	}
	a.id, a.answer, a.decided = a.b.PermissionRequest(request, a.call.as(q, d))
	if a.decided {
		a.close(a.answer.Allowed())
	}
}

// as is the call as it is asked, if the server tells other parameters than the call has
// shown. A tool that calls others by their id has them below a key of its own.
func (c *call) as(q asking, d *Decoder) (asked trace.ToolCall) {
	shown, input := c.args, q.params
	if c.name != q.tool {
		parts := map[string]json.RawMessage{}
		_ = json.Unmarshal(c.args, &parts) // it was an object when its tool_id was read
		if shown = parts["params"]; len(q.params) > 0 {
			parts["params"] = q.params
			input, _ = json.Marshal(parts) //nolint:errcheck,errchkjson // as it was read
		}
	}
	if len(q.params) == 0 || sameParams(shown, q.params) {
		return asked
	}
	tool := d.tools.Classify(c.name, input)
	return trace.ToolCall{RawName: c.name, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations}
}

// sameParams compares parameters but for the order of their keys. Models write them as a
// text, too; none are {}. A key that is there twice makes a difference.
func sameParams(shown, asked json.RawMessage) bool {
	var text string
	if json.Unmarshal(shown, &text) == nil {
		shown = json.RawMessage(text)
	}
	if !hasArgs(shown) && !hasArgs(asked) {
		return true
	}
	var a, b any
	var x, y bytes.Buffer
	if json.Compact(&x, shown) != nil || json.Compact(&y, asked) != nil || x.Len() != y.Len() {
		return false
	}
	return json.Unmarshal(shown, &a) == nil && json.Unmarshal(asked, &b) == nil && reflect.DeepEqual(a, b)
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

// frame is what tells the session agent an answer.
func (a *ask) frame(answer trace.Answer, r trace.PermissionResponse) wire.Frame {
	switch {
	case a.question:
		return wire.Answer{QuestionID: a.native, Answer: wire.AnswerValue{Text: strings.Join(answer.Values, ", ")}}
	case r.Allowed():
		return wire.ApproveAction{InvocationID: a.native}
	}
	return wire.DenyAction{InvocationID: a.native, Reason: r.Reason}
}

// answered takes an answer on its way to the agent.
func (d *Decoder) answered(f wire.Answer) {
	v := verdict{value: f.Answer.String(), by: cmp.Or(d.user, "user")}
	if v.value == wire.Expired {
		v = verdict{expired: true}
	}
	d.settleAsk(f.QuestionID, v)
}

// verdict is an answer.
type verdict struct {
	action, value string
	by            string
	expired       bool
}

// settleAsk puts an answer on record, unless one is.
func (d *Decoder) settleAsk(native string, v verdict) {
	for _, r := range d.runs {
		d.overtaken(r, native)
	}
	a := d.asks[native]
	if a == nil {
		return
	}
	delete(d.asks, native)
	d.fresh.settle(native)
	if a.question {
		a.b.Answer(a.read(d, v))
		return
	}
	r := trace.PermissionResponse{RequestID: a.id, Outcome: trace.Expired}
	if !v.expired {
		r = trace.PermissionResponse{RequestID: a.id, Outcome: trace.Selected, ChosenOption: cmp.Or(v.action, v.value), By: v.by}
		if r.ChosenOption != wire.ActionApprove {
			r.OptionKind = trace.RejectOnce
		} else {
			r.OptionKind = trace.AllowOnce
		}
	}
	a.b.PermissionResponse(r)
	a.close(r.Allowed())
}

// asked reports whether a question is open in a channel.
func (d *Decoder) asked(channel string) bool {
	for _, a := range d.asks {
		if a.question && a.run.channel == channel {
			return true
		}
	}
	return false
}

// isAnswer reports whether a prompt of ours was taken for an answer: today that of the
// owner is, if it names a channel of another type than web where a question is open. Then
// there is no word that it waits.
func (a *ask) isAnswer(d *Decoder, p *prompt, v verdict, value string) bool {
	return p.answers && p.phase == sent && p.channel == a.run.channel && strings.TrimSpace(p.content) == strings.TrimSpace(value) &&
		(v.by == cmp.Or(p.sender, d.user) || p.sender == "" && d.user == "")
}

// read makes the answer of a verdict. A prompt that was taken for the answer does
// not run.
func (a *ask) read(d *Decoder, v verdict) trace.Answer {
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
	for _, p := range d.prompts {
		if a.isAnswer(d, p, v, value) {
			d.drop(p)
			if p.b != nil {
				p.b.End(trace.Stop{Reason: "answered", Outcome: trace.OutcomeCompleted})
			}
			break
		}
	}
	return trace.Answer{QuestionID: a.id, Outcome: trace.Selected, Values: []string{value}, By: v.by}
}
