package langgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// interrupt is what the graph waits for.
type interrupt struct {
	ID    string `json:"id"`
	Value raw    `json:"value"`
}

// static is the id of a pause before or after a node. Such a pause has no value and no answer.
const static = "static"

// request is an interrupt that people answer: a question, or an approval of each action.
type request struct {
	id      string
	key     string // the id, unless another interrupt of the run has it, too
	value   raw
	given   any // the answer, if a person has given it before the graph asked
	form    requestForm
	actions []*action
}

// requestForm says what the graph expects as the answer.
type requestForm int

const (
	freeForm  requestForm = iota // the answer as it is
	decisions                    // {"decisions": […]}, of LangChain's middleware
	inbox                        // […], of LangGraph's agent inbox
)

// action is a call that needs approval.
type action struct {
	name    string
	args    raw
	title   string
	allowed []string  // approve, edit, reject; nil is all of them
	call    *toolCall // nil if an earlier process has asked
}

// native is the agent's own id of one approval, or of a question.
func (r *request) native(n int) string { return fmt.Sprintf("%s:%d", r.key, n) }

// request finds out what an interrupt asks.
func (i interrupt) request() *request {
	r := &request{id: i.ID, key: i.ID, value: i.Value}
	for _, one := range listed(i.Value) {
		o := objectOf(one)
		for _, requested := range list[object](o.first("action_requests", "actionRequests")) {
			r.form, r.actions = decisions, append(r.actions, actionOf(requested, o, ""))
		}
		if requested := o.in("action_request"); requested.text("action") != "" {
			r.form, r.actions = inbox, append(r.actions, actionOf(requested, o, o.text("description")))
		}
	}
	return r
}

// actionOf reads an action. LangChain writes the words in two styles, and the inbox has words
// of its own.
func actionOf(o, around object, title string) *action {
	a := &action{name: o.text("name", "action"), args: o.first("args", "arguments"), title: cmp.Or(title, o.text("description"))}
	if a.args == nil {
		a.args = raw("{}")
	}
	for _, c := range list[object](around["review_configs"]) {
		if c.text("action_name", "actionName") == a.name {
			a.allowed = list[string](c.first("allowed_decisions", "allowedDecisions"))
		}
	}
	config := around.in("config") // of the inbox
	for _, may := range [][2]string{{"allow_accept", "approve"}, {"allow_edit", "edit"}, {"allow_ignore", "reject"}, {"allow_respond", "reject"}} {
		if string(config[may[0]]) == "true" {
			a.allowed = append(a.allowed, may[1])
		}
	}
	return a
}

// pause takes what the graph waits for, if it does. An empty list is a pause.
func (d *Decoder) pause(found raw) {
	var all []interrupt
	if json.Unmarshal(found, &all) == nil && all != nil {
		d.interrupted(all)
	}
}

// interrupted asks people for all that the graph waits for. Graphs announce some interrupts
// twice. Interrupts of one id with several values are several: the tools of a node ask at the same time.
func (d *Decoder) interrupted(all []interrupt) {
	t := d.turn
	t.close(func(*speech) bool { return true })
	if len(all) == 0 {
		all = []interrupt{{ID: static}}
	}
	var approvals []trace.PermissionCheck
	var questions []trace.Question
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		r, same := i.request(), 1
		known := slices.ContainsFunc(t.requests, func(o *request) bool {
			if o.id == r.id {
				same++
			}
			return o.is(r)
		})
		if known {
			continue
		}
		if same > 1 {
			r.key = fmt.Sprintf("%s~%d", r.id, same)
		}
		t.requests = append(t.requests, r)
		if i.ID != static {
			t.b.EmitOwn(trace.Data{Name: "interrupt", ID: r.key, Value: agentkit.Encode(i)})
		}
		early := slices.IndexFunc(t.early, r.is)
		switch {
		case early >= 0:
			r.given = t.early[early].given
			t.early = slices.Delete(t.early, early, early+1)
			d.Again(t.b)
		case d.goOn == nil && d.live: // a backend that takes no answers
		case r.form == freeForm:
			questions = append(questions, d.question(r, i.Value))
		default:
			approvals = append(approvals, d.approvals(r)...)
		}
	}
	d.effects = append(d.effects, d.Permissions(t.b, approvals...)...)
	d.effects = append(d.effects, d.Questions(t.b, questions...)...)
}

// is reports whether two requests are the same, which a graph may announce twice.
func (r *request) is(o *request) bool {
	return r.id == o.id && (len(r.value) == 0 || len(o.value) == 0 || agentkit.SameJSON(r.value, o.value))
}

// approvals asks for the approval of each action. The calls are those of the model, if it has
// made such calls.
func (d *Decoder) approvals(r *request) (all []trace.PermissionCheck) {
	t := d.turn
	taken := func(c *toolCall) bool {
		return slices.ContainsFunc(t.requests, func(r *request) bool {
			return slices.ContainsFunc(r.actions, func(a *action) bool { return a.call == c })
		})
	}
	for n, a := range r.actions {
		p := trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: r.native(n)}}
		if !d.Recalls(t.b, r.native(n)) {
			id := r.native(n)
			if c := t.pending(a.name, a.args, func(c *toolCall) bool { return !taken(c) }); c != nil {
				id = c.id
			}
			a.call = t.call(id, a.name, false)
			t.input(a.call, a.args)
			p.Call = t.tools.Call(id, a.name, a.args)
			p.Request.ToolCallID, p.Request.Title, p.Request.Options = id, cmp.Or(a.title, p.Call.Title, a.name), a.options()
		}
		all = append(all, p)
	}
	return all
}

func (a *action) options() (all []trace.PermissionOption) {
	for _, o := range []trace.PermissionOption{{ID: "approve", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "reject", Name: "Reject", OptionKind: trace.RejectOnce}} {
		if slices.Contains(a.allowed, o.ID) || !slices.Contains(a.allowed, "approve") && !slices.Contains(a.allowed, "reject") {
			all = append(all, o)
		}
	}
	return all
}

// question asks for an answer without a form. Its text is in the words that people use, or is
// the value itself.
func (d *Decoder) question(r *request, value raw) trace.Question {
	q := trace.Question{QuestionID: r.native(0), Text: "The graph has paused. Shall it go on?"}
	labels := []string{goOn, quit}
	if r.id != static {
		o := objectOf(value)
		q.Text = cmp.Or(text(value), o.text("question", "ask", "message", "prompt", "text", "title", "instruction", "description"), string(trace.CompactJSON(value)))
		labels = append(list[string](o["options"]), list[string](o["choices"])...)
	}
	for _, label := range labels {
		q.Choices = append(q.Choices, trace.Choice{Label: label})
	}
	if id := d.interrupts[r.id]; d.turn.shows(id) {
		q.ToolCallID = id
	}
	return q
}
