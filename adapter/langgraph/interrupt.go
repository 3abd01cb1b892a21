package langgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/langchain"
	"github.com/tributary-dev/tributary/trace"
)

// interrupt is what the graph waits for.
type interrupt struct {
	ID    string `json:"id"`
	Value raw    `json:"value"`
}

// static is the id of a pause before or after a node. Such a pause has no value and no answer.
const static = "static"

// request is an interrupt that people answer: a question, or a review of calls.
type request struct {
	id     string
	key    string // the id, unless another interrupt of the run has it, too
	value  raw
	given  any // the answer, if a person has given it before the graph asked
	review langchain.Review
	calls  []*toolCall // that are reviewed, and were not asked for by an earlier process
}

// question is the agent's own id of the question.
func (r *request) question() string { return r.key + ":0" }

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
		r, same := &request{id: i.ID, key: i.ID, value: i.Value}, 1
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
		r.review = langchain.Read(r.key, i.Value)
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
		case len(r.review.Actions) == 0:
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
	free := func(c *toolCall) bool {
		return !slices.ContainsFunc(t.requests, func(r *request) bool { return slices.Contains(r.calls, c) })
	}
	for _, a := range r.review.Actions {
		p := trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: a.ID}}
		if !d.Recalls(t.b, a.ID) {
			id := a.ID
			if c := t.pending(a.Name, a.Args, free); c != nil {
				id = c.id
			}
			c := t.call(id, a.Name, false)
			r.calls = append(r.calls, c)
			t.input(c, a.Args)
			p.Call = t.tools.Call(id, a.Name, a.Args)
			p.Request.ToolCallID, p.Request.Title, p.Request.Options = id, cmp.Or(a.Title, p.Call.Title, a.Name), a.Options()
		}
		all = append(all, p)
	}
	return all
}

// question asks for an answer without a form. Its text is in the words that people use, or is
// the value itself.
func (d *Decoder) question(r *request, value raw) trace.Question {
	q := trace.Question{QuestionID: r.question(), Text: "The graph has paused. Shall it go on?"}
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
