package agentops

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// run is what the agent does for one prompt: a turn here, and upstream one or more.
type run struct {
	b       *trace.Builder
	prompt  *prompt // nil if we did not see any
	channel string
	turn    *turn // the newest
	owners  map[string]*turn

	waits   []asking    // what is asked before the call behind it is told with its arguments
	verdict *trace.Stop // how it ended, while a last word is awaited
	course  course
	doubt   doubt
}

// The texts of failures that say nothing themselves.
const (
	turnFailed = "Turn failed"
	toolFailed = "Tool execution failed"
)

// endTurn is the reason of a turn that came to its end.
const endTurn = wire.ReasonEndTurn

// active returns the newest run of a channel that is not over, or nil.
func (d *Decoder) active(channel string) *run {
	for _, r := range slices.Backward(d.runs) {
		if r.channel == channel {
			return r
		}
	}
	return nil
}

// ofPrompt returns the run of a prompt, or nil.
func (d *Decoder) ofPrompt(p *prompt) *run {
	for _, r := range d.runs {
		if r.prompt == p {
			return r
		}
	}
	return nil
}

// busy reports whether anything is open.
func (d *Decoder) busy() bool {
	return len(d.runs) > 0 || slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.b != nil && !p.b.Over() })
}

// runOf finds the run that a frame without a turn's id is about: that of the prompt
// it names, else that of its channel. One that names neither is about the newest.
func (d *Decoder) runOf(promptID string, c wire.Channel) *run {
	if promptID != "" {
		for _, r := range d.runs {
			if r.prompt != nil && r.prompt.id == promptID {
				return r
			}
		}
	}
	if c != (wire.Channel{}) {
		return d.active(c.Name(""))
	}
	if len(d.runs) == 0 {
		return nil
	}
	return d.runs[len(d.runs)-1]
}

// next is the prompt that an agent which begins something in a channel works on:
// one that was given to it, else one that was sent and of which nothing is known.
// Without the beginning of a turn before our eyes it may be one that ran before.
func (d *Decoder) next(channel string, seen bool) *prompt {
	for _, want := range []phase{given, sent, queued} {
		for _, p := range d.prompts {
			if p.channel == channel && p.phase == want && (want == given && seen || !d.unseen) {
				return p
			}
		}
	}
	return nil
}

// begin opens the turn of a prompt, or of something that nobody asked for as far as
// we saw. It returns nil when it is to be left out.
func (d *Decoder) begin(p *prompt, channel string, t agent.Turns) *run {
	if len(d.runs) >= mostRuns {
		oldest := max(0, slices.IndexFunc(d.runs, func(r *run) bool { return r.prompt == nil || !r.prompt.own }))
		d.cut(d.runs[oldest], t)
	}
	r := &run{prompt: p, channel: channel, owners: map[string]*turn{}}
	info := agent.TurnInfo{Reason: "upstream", Beside: len(d.runs) > 0}
	switch {
	case p == nil:
	case p.b != nil:
		r.b = p.b
	case p.own:
		r.b = d.free(t.Current())
	}
	if r.b == nil {
		if d.ownOnly && (p == nil || !p.own) {
			if p != nil {
				d.drop(p)
			}
			d.unseen = true
			return nil
		}
		if p != nil {
			info.Prompt, info.Reason = p.info().Prompt, ""
		}
		if r.b = t.Begin(info); r.b == nil {
			return nil
		}
	}
	if p != nil {
		p.on(begins)
		p.b = r.b
	}
	d.asleep, d.lastErr = false, ""
	d.runs = append(d.runs, r)
	d.stir()
	return r
}

// end ends a run.
func (d *Decoder) end(r *run, stop trace.Stop) {
	d.stir()
	if r.turn != nil {
		r.turn.flush()
	}
	d.runs = slices.DeleteFunc(d.runs, func(o *run) bool { return o == r })
	if r.prompt != nil {
		r.prompt.on(ends)
		d.drop(r.prompt)
	}
	for id, tn := range d.turns {
		if tn != nil && tn.run == r {
			d.forget(id)
		}
	}
	for id, a := range d.asks {
		if a.run == r {
			delete(d.asks, id)
			d.fresh.settle(id)
			d.forget(id)
		}
	}
	for _, q := range r.waits {
		d.forget(q.native)
	}
	if stop.Outcome == trace.OutcomeFailed {
		d.lastErr = cmp.Or(stop.Error, turnFailed)
	}
	r.b.End(stop)
}

// forget keeps of a turn, or a prompt, no more than that it is over.
func (d *Decoder) forget(id string) {
	if tn, known := d.turns[id]; known && tn == nil {
		return
	}
	d.turns[id] = nil
	d.past = append(d.past, id)
	if len(d.past) > mostPast {
		delete(d.turns, d.past[0])
		d.past = slices.Delete(d.past, 0, 1)
	}
}

// finish notes how a run ended. It waits for calls whose results are still to come:
// they are told after the end.
func (d *Decoder) finish(r *run, stop trace.Stop) {
	if r.course == stopping {
		stop = halted()
	}
	if r.turn != nil && r.turn.works() && stop.Outcome != trace.OutcomeCanceled {
		r.verdict = &stop
		if r.prompt != nil {
			r.prompt.on(finishes)
		}
		return
	}
	d.end(r, stop)
}

// lastWord ends a run whose last word has come.
func (d *Decoder) lastWord(r *run) {
	if r.verdict != nil && (r.turn == nil || !r.turn.works()) {
		d.end(r, *r.verdict)
	}
}

// cut ends a run of which no end was told: the agent is not busy any more, or with
// something else.
func (d *Decoder) cut(r *run, _ agent.Turns) {
	switch {
	case r.verdict != nil:
		d.end(r, *r.verdict)
	case r.course != atWork:
		d.twice = d.twice || r.course != resumed
		d.end(r, halted())
	case r.turn != nil && r.turn.empty():
		// So ends a turn that failed before its first word: whoever reports the
		// failure leaves out what it is about, and it is told to nobody.
		d.end(r, trace.Stop{Reason: wire.ReasonError, Outcome: trace.OutcomeFailed, Error: turnFailed})
	default:
		d.end(r, trace.Stop{Reason: endTurn, Outcome: trace.OutcomeCompleted})
	}
}

// halted is the end of a turn that was stopped, by whomever.
func halted() trace.Stop { return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled} }

// superseded ends all runs: the agent has been given something else.
func (d *Decoder) superseded(t agent.Turns) {
	d.unseen = false
	for _, r := range slices.Clone(d.runs) {
		d.cut(r, t)
	}
}

// abort takes the wish that everything stops, which it does a little later.
func (d *Decoder) abort() {
	for _, r := range d.runs {
		r.on(aborts)
	}
	for _, p := range d.prompts {
		p.abort = p.phase == given
	}
}
