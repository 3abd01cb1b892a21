package langgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// The choices at a pause.
const (
	goOn = "Continue"
	quit = "Stop"
)

// note is an answer on its way to the Decoder.
type note struct {
	Interrupt string                    `json:"interrupt"`
	Item      int                       `json:"item"`
	Permit    *trace.PermissionResponse `json:"permit,omitempty"`
	Answer    *trace.Answer             `json:"answer,omitempty"`
}

// pause takes what the graph waits for, if it does.
func (d *Decoder) pause(found raw) {
	var all []interrupt
	if json.Unmarshal(found, &all) == nil && all != nil {
		d.interrupted(all)
	}
}

// interrupted takes what the graph waits for. The same interrupts may be announced twice.
func (d *Decoder) interrupted(all []interrupt) {
	t := d.turn
	t.close(func(*speech) bool { return true })
	if len(all) == 0 {
		d.put(&ask{id: static, form: pause, items: []*item{{}}}, nil)
	}
	for n, i := range all {
		i.ID = cmp.Or(i.ID, fmt.Sprintf("interrupt-%d", n+1))
		d.put(i.ask(), i.Value)
	}
}

// asked finds what an interrupt asks.
func (t *turn) asked(id string) *ask {
	if i := slices.IndexFunc(t.asks, func(a *ask) bool { return a.id == id }); i >= 0 {
		return t.asks[i]
	}
	return nil
}

// put asks a person.
func (d *Decoder) put(a *ask, value raw) {
	t := d.turn
	if t.asked(a.id) != nil {
		return
	}
	t.asks = append(t.asks, a)
	if a.form != pause {
		t.b.Emit(trace.Data{Name: "interrupt", ID: a.id, Value: agentkit.Encode(interrupt{a.id, value})})
	}
	for n, it := range a.items {
		it.asked = d.waits(a.item(n))
	}
	switch {
	case d.goOn == nil && d.live: // a backend that takes no answers
	case a.form == freeForm || a.form == pause:
		d.question(a, value)
	default:
		d.approvals(a)
	}
}

// item is the agent's own id of one thing that is asked.
func (a *ask) item(n int) string { return fmt.Sprintf("%s:%d", a.id, n) }

// waits returns the id under which an earlier process asks, or "". The gateway may have
// added something to the agent's own id.
func (d *Decoder) waits(native string) string {
	for _, id := range d.waiting {
		if more, ok := strings.CutPrefix(id, native); ok && (more == "" || strings.ContainsRune("~-.", rune(more[0]))) {
			return id
		}
	}
	return ""
}

// approvals asks for the approvals of an interrupt, all at once. Those that an earlier
// process has asked for are awaited.
func (d *Decoder) approvals(a *ask) {
	t, taken := d.turn, map[*toolCall]bool{}
	decided := make([]trace.PermissionDecision, len(a.items))
	var asks []trace.PermissionAsk
	for n, it := range a.items {
		if it.asked != "" {
			continue
		}
		id := a.item(n)
		if c := t.pending(it.name, it.args, func(c *toolCall) bool { return !taken[c] }); c != nil {
			id = c.id
		}
		it.call = t.call(id, it.name, flat)
		taken[it.call] = true
		t.input(it.call, it.args)
		asked := t.tools.Call(it.call.id, it.name, it.args)
		asks = append(asks, trace.PermissionAsk{Call: asked, Request: trace.PermissionRequest{
			RequestID: a.item(n), ToolCallID: it.call.id, Title: cmp.Or(it.title, asked.Title, it.name), Options: it.options(),
		}})
	}
	made := t.b.PermissionRequests(asks...)
	for n, it := range a.items {
		if it.asked == "" {
			decided[n], made = made[0], made[1:]
			it.asked = decided[n].ID
		}
		effect := agent.Permit{Native: a.item(n), RequestID: it.asked, Reply: func(r trace.PermissionResponse) raw {
			return remote.Note(note{Interrupt: a.id, Item: n, Permit: &r})
		}}
		if decided[n].Decided {
			effect.Decided = &decided[n].Answer
		}
		d.do(effect)
	}
}

// question asks what has no form of its own.
func (d *Decoder) question(a *ask, value raw) {
	it := a.items[0]
	if it.asked == "" {
		q := questionOf(value)
		if a.form == pause {
			q = trace.Question{Text: "The graph has paused. Shall it go on?", Choices: []trace.Choice{{Label: goOn}, {Label: quit}}}
		}
		if q.QuestionID = a.item(0); d.turn.shows(d.interrupts[a.id]) {
			q.ToolCallID = d.interrupts[a.id]
		}
		it.asked = d.turn.b.Question(q)
	}
	d.do(agent.Ask{Native: a.item(0), QuestionIDs: []string{it.asked}, Reply: func(all []trace.Answer) raw {
		return remote.Note(note{Interrupt: a.id, Answer: &all[0]})
	}})
}

// questionOf reads the value of an interrupt, in the words that people use. A value in other
// words is the question itself.
func questionOf(value raw) (q trace.Question) {
	o := objectOf(value)
	q.Text = cmp.Or(text(value), o.text("question", "ask", "message", "prompt", "text", "title", "instruction", "description"), string(trace.Opaque(value)))
	for _, label := range append(list[string](o["options"]), list[string](o["choices"])...) {
		q.Choices = append(q.Choices, trace.Choice{Label: label})
	}
	return q
}

// freeAnswer is what a person wrote: an object, a list, true or false as JSON, else text.
func freeAnswer(values []string) raw {
	if len(values) != 1 {
		return agentkit.Encode(append([]string{}, values...))
	}
	if s := strings.TrimSpace(values[0]); (s == "true" || s == "false" || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s)) {
		return raw(s)
	}
	return agentkit.Encode(values[0])
}

// noted takes an answer. A recording has the answer nowhere else.
func (d *Decoder) noted(n note) {
	if d.turn == nil {
		return
	}
	a := d.turn.asked(n.Interrupt)
	if a == nil || n.Item < 0 || n.Item >= len(a.items) {
		return
	}
	it, b := a.items[n.Item], d.turn.b
	switch {
	case n.Permit != nil:
		n.Permit.RequestID = it.asked
		b.PermissionResponse(*n.Permit)
		it.answer, d.by = a.decision(it, *n.Permit), cmp.Or(n.Permit.By, d.by)
		if it.call != nil {
			it.call.refused = !n.Permit.Allowed()
		}
	case n.Answer != nil:
		n.Answer.QuestionID = it.asked
		b.Answer(*n.Answer)
		it.answer, d.by = freeAnswer(n.Answer.Values), cmp.Or(n.Answer.By, d.by)
		if a.form == pause && (n.Answer.Outcome != trace.Selected || text(it.answer) == quit) {
			d.end("stopped", "")
			return
		}
	}
	d.answer()
}

// answer goes on with the graph once every answer is there and the interrupted run is over:
// a thread has one run at a time.
func (d *Decoder) answer() {
	if !d.ended || d.goOn == nil || len(d.turn.asks) == 0 {
		return
	}
	all := map[string]raw{}
	for _, a := range d.turn.asks {
		if all[a.id] = a.value(); all[a.id] == nil {
			return
		}
	}
	var command raw
	switch first := d.turn.asks[0]; {
	case first.form == pause:
	case len(all) == 1:
		command = agentkit.Encode(map[string]raw{"resume": all[first.id]})
	default:
		command = agentkit.Encode(map[string]any{"resume": all})
	}
	call := d.goOn(command)
	call.By = d.by
	d.do(agent.Send{Data: call.JSON()})
}
