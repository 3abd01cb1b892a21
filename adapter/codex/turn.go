package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// turn is what the Decoder knows of a turn.
type turn struct {
	b        *trace.Builder
	id       string                    // the agent's id; "" until it is known
	call     bool                      // a model call is over: the next item begins a step
	answered bool                      // so does the next text, for a tool has answered
	running  map[string]trace.ToolCall // calls without a result
	open     map[string]string         // type and id of the items of text that have no end
	again    map[string]string         // what was open when the agent began its request again
	patches  map[string][]change
	spent    trace.Usage // by the turn
	total    trace.Usage // by the session
	fault    string
	stop     bool // the turn is to be stopped as soon as it has an id
	inputs   int  // texts that were typed into running commands, for ids
}

// current returns the turn that runs, or nil.
func (d *Decoder) current(t agent.Turns) *turn {
	b := t.Current()
	if b == nil || b.Over() {
		return nil
	}
	if d.turn == nil || d.turn.b.Turn() != b.Turn() {
		d.turn = newTurn(b)
	}
	return d.turn
}

func newTurn(b *trace.Builder) *turn {
	return &turn{b: b, call: true, running: map[string]trace.ToolCall{}, open: map[string]string{}, again: map[string]string{}, patches: map[string][]change{}}
}

// begin begins the turn of the prompt that has waited longest.
func (d *Decoder) begin(t agent.Turns) *turn {
	if len(d.waiting) == 0 {
		return nil
	}
	b := t.Prompted(d.waiting[0])
	d.waiting = d.waiting[1:]
	if b == nil {
		return nil
	}
	d.turn = newTurn(b)
	return d.turn
}

// need returns the turn to which a message belongs. A turn that no prompt from here
// began is begun; what comes after a turn's end is dropped.
func (d *Decoder) need(p params, t agent.Turns) *turn {
	if c := d.current(t); c != nil || p.ThreadID != d.thread || d.turn != nil && d.turn.id == p.TurnID {
		return c
	}
	return d.foreign(agent.TurnInfo{Reason: "agent"}, p.TurnID, t)
}

// foreign begins a turn that no prompt from here began.
func (d *Decoder) foreign(info agent.TurnInfo, id string, t agent.Turns) *turn {
	b := t.Begin(info)
	if b == nil {
		return nil
	}
	d.turn = newTurn(b)
	d.turn.id = id
	return d.turn
}

// started takes the agent's word that a turn begins.
func (d *Decoder) started(p params, t agent.Turns) {
	if p.ThreadID != d.thread {
		return
	}
	c := d.current(t)
	if c != nil && c.id != "" && c.id != p.Turn.ID {
		d.end(c, turnWire{Status: "failed", Error: &turnError{Message: "Codex has begun another turn without an end of this one."}})
		c = nil
	}
	if c == nil {
		c = d.begin(t)
	}
	if c != nil {
		c.id = p.Turn.ID
		c.b.Touch()
		if c.stop {
			d.effects = append(d.effects, agent.Send{Data: encode(object{"id": "stop-" + c.id, "method": "turn/interrupt", "params": object{"threadId": d.thread, "turnId": c.id}})})
		}
	}
	d.effects = append(d.effects, agent.Resume{Token: place{d.thread, p.Turn.ID}.token()})
}

// userMessage takes the agent's echo of a message. An echo without a turn is another
// client's prompt.
func (d *Decoder) userMessage(p params, t agent.Turns) {
	if p.ThreadID != d.thread || d.current(t) != nil || d.turn != nil && d.turn.id == p.TurnID {
		d.touch(t)
		return
	}
	var inputs []userInput
	_ = json.Unmarshal(orNull(p.Item.Content), &inputs) // an echo of another form has no parts
	d.prompts++
	asked := prompt(p.Item.ID, inputs)
	d.foreign(agent.TurnInfo{Prompt: &asked}, p.TurnID, t)
}

// completed ends the turn.
func (d *Decoder) completed(p params, t agent.Turns) {
	c := d.current(t)
	if c == nil || p.ThreadID != d.thread || c.id != "" && c.id != p.Turn.ID {
		return
	}
	c.id = p.Turn.ID
	for _, it := range p.Turn.Items {
		_ = d.item(c, c.b, it, true) // the summary repeats what is known; the rest was reported when it came
	}
	d.end(c, p.Turn)
}

// end ends a turn and the wait for what it asked.
func (d *Decoder) end(c *turn, w turnWire) {
	for id, a := range maps.Clone(d.asks) {
		if a.b.Turn() == c.b.Turn() {
			delete(d.asks, id)
			d.effects = append(d.effects, agent.Withdraw{Native: id})
		}
	}
	for _, u := range []trace.Usage{c.spent, c.total} {
		if u.Scope != "" {
			c.b.Emit(u)
		}
	}
	switch w.Status {
	case "completed":
		c.b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	case "interrupted":
		c.b.End(trace.Stop{Reason: "interrupted", Outcome: trace.OutcomeCanceled})
	default:
		stop := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: c.fault}
		if w.Error != nil {
			stop.Reason, stop.Error = w.Error.code(), w.Error.sentence()
		}
		if stop.Error == "" {
			stop.Error = "Codex ended the turn with an error and does not say which."
		}
		c.b.End(stop)
	}
}

// fault takes an error. The turn goes on after one that is tried again.
func (d *Decoder) fault(p params, t agent.Turns) {
	c := d.current(t)
	switch {
	case p.WillRetry:
		d.emit(p, t, trace.Error{Code: "retry", Message: p.Error.sentence()})
		if c != nil && p.ThreadID == d.thread {
			c.again, c.open = c.open, map[string]string{}
		}
	case c == nil || p.ThreadID != d.thread:
		d.emit(p, t, trace.Error{Code: p.Error.code(), Message: p.Error.sentence()})
	default:
		c.fault = p.Error.sentence()
		c.b.Touch()
	}
}

// sentence says what went wrong. The message may be the body of a provider's reply.
func (e turnError) sentence() string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	said := strings.TrimSpace(e.Message)
	if json.Unmarshal([]byte(said), &body) == nil && body.Error.Message != "" {
		said = body.Error.Message
	}
	if e.Details != "" && !strings.Contains(said, e.Details) {
		said = strings.TrimSpace(said + ": " + e.Details)
	}
	return said + advice(e.code()+" "+said)
}

// code is the agent's own word for the error.
func (e turnError) code() string {
	var word string
	var object map[string]raw
	switch {
	case json.Unmarshal(orNull(e.Info), &word) == nil && word != "" && word != "other":
		return word
	case json.Unmarshal(orNull(e.Info), &object) == nil && len(object) == 1:
		for word := range object {
			return word
		}
	}
	return "error"
}

// used puts on record what a model call used, and remembers the sums.
func (c *turn) used(b *trace.Builder, u tokenUsage, main bool) {
	step := usage(trace.UsageStep, u.Last)
	step.ContextUsed, step.ContextSize = u.Last.Total, u.Window
	b.Emit(step)
	if !main {
		return
	}
	c.call = true
	c.spent.Scope = trace.UsageTurn
	c.spent.InputTokens += step.InputTokens
	c.spent.OutputTokens += step.OutputTokens
	c.spent.CacheReadTokens += step.CacheReadTokens
	c.spent.CacheWriteTokens += step.CacheWriteTokens
	c.spent.ReasoningTokens += step.ReasoningTokens
	c.total = usage(trace.UsageSession, u.Total)
	c.total.ContextUsed, c.total.ContextSize = step.ContextUsed, step.ContextSize
}

func usage(scope trace.UsageScope, t tokens) trace.Usage {
	return trace.Usage{
		Scope: scope, InputTokens: t.Input, OutputTokens: t.Output, CacheReadTokens: t.Cached, CacheWriteTokens: t.CacheWrite, ReasoningTokens: t.Reasoning,
	}
}

// newThread takes a thread that was started: the conversation, or a sub-agent's.
func (d *Decoder) newThread(th thread, t agent.Turns) {
	switch {
	case d.thread == "" && th.Parent == "":
		d.thread = th.ID
	}
	d.touch(t)
}

// voice is the Builder's view of who speaks in a thread.
func (d *Decoder) voice(c *turn, thread string) *trace.Builder {
	call := d.agents[thread]
	switch {
	case thread == d.thread || thread == "":
		return c.b
	case call != "":
		return c.b.Under(call)
	}
	return c.b.Sub(thread, "")
}

func (d *Decoder) title(p params, t agent.Turns) {
	if p.ThreadID == d.thread && p.ThreadName != "" {
		t.Note(trace.Title(p.ThreadName))
	}
}

// emit writes to the turn that runs, else outside of any.
func (d *Decoder) emit(p params, t agent.Turns, payload trace.Payload) {
	if c := d.current(t); c != nil {
		d.voice(c, p.ThreadID).Emit(payload)
		return
	}
	t.Note(payload)
}

func (d *Decoder) touch(t agent.Turns) {
	if c := d.current(t); c != nil {
		c.b.Touch()
	}
}

func plan(steps []planStep) trace.Plan {
	p := trace.Plan{Entries: []trace.PlanEntry{}}
	for _, s := range steps {
		status := trace.PlanPending
		switch s.Status {
		case "inProgress":
			status = trace.PlanInProgress
		case "completed":
			status = trace.PlanCompleted
		}
		p.Entries = append(p.Entries, trace.PlanEntry{Content: s.Step, Status: status})
	}
	return p
}

func thoughtKey(id, list string, index int) string { return fmt.Sprintf("%s/%s/%d", id, list, index) }
