package codex

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// turn is what the Decoder knows of a turn.
type turn struct {
	b        *trace.Builder
	id       string            // the agent's id; "" until it is known
	call     bool              // a model call is over: the next item begins a step
	answered bool              // so does the next text, for a tool has answered
	running  map[string]item   // calls without a result
	open     map[string]string // the text without an end, by thread and type
	again    map[string]string // what was open when Codex sent its request again
	spent    trace.Usage       // by the turn
	total    trace.Usage       // by the session
	fault    turnError
	stop     bool // the turn is to be stopped as soon as it has an id
	inputs   int  // texts that were typed into running commands, for ids
	idle     bool // Codex says that nothing runs
	reads    int  // of the conversation, to find the end
}

// current is the turn that runs, or nil.
func (d *Decoder) current() *turn {
	if d.turn == nil || d.turn.b.Over() {
		return nil
	}
	return d.turn
}

// begin makes a turn the current one.
func (d *Decoder) begin(b *trace.Builder, id string) *turn {
	if b == nil {
		return nil
	}
	if d.turn != nil {
		d.past = cmp.Or(d.turn.id, d.past)
		for id := range d.turn.running {
			d.open[id] = cmp.Or(d.open[id], d.turn.b.Turn())
		}
	}
	d.turn = &turn{b: b, id: id, call: true, running: map[string]item{}, open: map[string]string{}, again: map[string]string{}}
	return d.turn
}

// next begins the turn of the prompt that has waited longest.
func (d *Decoder) next(t agent.Turns) *turn {
	if len(d.waiting) == 0 {
		return nil
	}
	first := d.waiting[0]
	d.waiting = d.waiting[1:]
	return d.begin(t.Prompted(first), "")
}

// need returns the turn to which a message belongs. A turn that no prompt from here
// began is begun: by another client's prompt if the echo of a message comes first. A message that
// comes after its turn's end belongs to none.
func (d *Decoder) need(p params, t agent.Turns) *turn {
	if c := d.current(); c != nil || p.ThreadID != d.thread || d.turn != nil && d.turn.id == p.TurnID {
		return c
	}
	info := agent.TurnInfo{Reason: "agent"}
	if p.Item.Type == "userMessage" {
		var inputs []userInput
		_ = json.Unmarshal(p.Item.Content, &inputs) // an echo of another form has no parts
		asked := prompt(p.Item.ID, inputs)
		info = agent.TurnInfo{Prompt: &asked}
	}
	return d.begin(t.Begin(info), p.TurnID)
}

// tooLate says whether a notification is about the turn before the newest one: that turn was over
// by the record of the conversation, and its begin, error or end must not become that of the next turn.
func (d *Decoder) tooLate(method string, p params) bool {
	about := method == "turn/started" || method == "turn/completed" || method == "error"
	return about && d.past != "" && d.past != d.turn.id && cmp.Or(p.Turn.ID, p.TurnID) == d.past
}

// started takes the begin of a turn.
func (d *Decoder) started(p params, t agent.Turns) {
	if p.ThreadID != d.thread {
		return
	}
	c := d.current()
	if c != nil && c.id != "" && c.id != p.Turn.ID {
		d.end(c, turnWire{Status: "failed", Error: &turnError{Message: "Codex has begun another turn without an end of this one."}})
		c = nil
	}
	if c == nil {
		c = d.next(t)
	}
	if c != nil {
		c.id = p.Turn.ID
		c.b.Touch()
		d.uses(d.thread, d.about.chosen, t)
		if c.stop {
			d.do(agent.Send{Data: agentkit.Encode(object{
				"id": "stop-" + c.id, "method": "turn/interrupt", "params": object{"threadId": d.thread, "turnId": c.id},
			})})
		}
	}
	d.do(agent.Resume{Token: agentkit.Bookmark{Conversation: d.thread, Moment: p.Turn.ID}.Token()})
}

// completed takes the end of a turn. The items that come with it repeat what is known.
func (d *Decoder) completed(p params) {
	c := d.current()
	if c == nil || p.ThreadID != d.thread || c.id != "" && c.id != p.Turn.ID {
		return
	}
	for _, it := range p.Turn.Items {
		_ = d.item(c, c.b, params{ThreadID: p.ThreadID, Item: it}, true) // an unknown item was reported when it came
	}
	d.end(c, p.Turn)
}

// end ends a turn and the wait for what it asked.
func (d *Decoder) end(c *turn, w turnWire) {
	for id, a := range d.asks {
		if a.Turn() == c.b.Turn() {
			delete(d.asks, id)
			d.do(agent.Withdraw{Native: id})
		}
	}
	for _, u := range []trace.Usage{c.spent, c.total} {
		if u.Scope != "" {
			c.b.Emit(u)
		}
	}
	stop := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Class: c.fault.class(), Error: c.fault.sentence()}
	switch {
	case w.Status == "completed":
		stop = trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
	case w.Status == "interrupted":
		stop = trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled}
	case w.Error != nil:
		stop.Reason, stop.Class, stop.Error = w.Error.code(), cmp.Or(w.Error.class(), stop.Class), w.Error.sentence()
	}
	if stop.Outcome == trace.OutcomeFailed && stop.Error == "" {
		stop.Error = "Codex ended the turn with an error and does not say which."
	}
	c.b.End(stop)
}

// fault takes an error. The turn goes on after one that is tried again.
func (d *Decoder) fault(p params, t agent.Turns) {
	c := d.current()
	switch {
	case p.WillRetry:
		d.emit(p, t, trace.Notice("retry", p.Error.sentence()))
		if c != nil && p.ThreadID == d.thread {
			c.again, c.open = c.open, map[string]string{}
		}
	case c == nil || p.ThreadID != d.thread:
		d.emit(p, t, trace.Error{Code: p.Error.code(), Message: p.Error.sentence()})
	default:
		c.fault = p.Error
		c.b.Touch()
	}
}

// voice is the Builder's view of the agent or sub-agent whose thread it is.
func (d *Decoder) voice(c *turn, thread string) *trace.Builder {
	call := d.agents.Get(thread)
	switch {
	case thread == d.thread || thread == "":
		return c.b
	case call != "":
		return c.b.Under(call)
	}
	return c.b.Sub(thread, "")
}

// emit writes to the turn that runs, else outside of any.
func (d *Decoder) emit(p params, t agent.Turns, payload trace.Payload) {
	if c := d.current(); c != nil {
		d.voice(c, p.ThreadID).Emit(payload)
		return
	}
	t.Note(payload)
}

func thoughtKey(id, list string, index int) string { return fmt.Sprintf("%s/%s/%d", id, list, index) }
