package agentops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// agentStatus takes what the agent does. That it is idle says nothing about the end
// of a turn: it is so while it asks, and before it has told its end.
func (d *Decoder) agentStatus(f wire.AgentStatus, t agent.Turns) {
	if f.Status != wire.StatusIdle {
		d.runner(acts)
	}
	r := d.runOf("", f.Channel)
	if r == nil && f.Status != wire.StatusIdle && f.Status != wire.StatusError {
		if p := d.next(f.Channel.Name(""), true); p != nil {
			r = d.begin(p, p.channel, t)
		}
	}
	if r == nil {
		return
	}
	if f.Status == wire.StatusIdle {
		r.on(goesIdle)
	} else if r.on(isBusy); r.turn != nil && !r.turn.away {
		r.turn.flush()
	}
	if r.course == stopping {
		return
	}
	r.b.Emit(trace.Status{State: trace.State(f.Status), Detail: f.Detail})
}

// status takes what has changed about the session.
func (d *Decoder) status(f wire.StatusData, t agent.Turns) {
	switch f.Status {
	case wire.SessionInitializing, wire.SessionHibernating, wire.SessionHibernated, wire.SessionRestoring:
		d.asleep = true
	case wire.SessionRunning, wire.SessionIdle:
		d.asleep = false
	case wire.SessionTerminated, wire.SessionArchived:
		d.gone(f.Status, t)
	case wire.SessionError: // why comes with the next frame
		for _, p := range slices.Clone(d.prompts) {
			if p.own && p.phase <= given {
				d.begin(p, p.channel, t)
			}
		}
		for _, r := range d.runs {
			r.verdict = &trace.Stop{Reason: "session_error", Outcome: trace.OutcomeFailed, Error: "The session has failed."}
		}
	}
	d.noteRunner(f)
	if f.PromptQueued {
		d.queued(f)
	}
	if f.PromptDequeued {
		d.dequeued(t)
	}
	if f.RunnerBusy != nil && !*f.RunnerBusy {
		d.atRest(t)
	}
	if f.QueueCleared {
		for _, p := range d.waitingThere() {
			d.withdraw(p)
		}
	}
}

// gone ends all that runs or waits: the session has ended.
func (d *Decoder) gone(state string, t agent.Turns) {
	stop := trace.Stop{Reason: "session_ended", Outcome: trace.OutcomeFailed, Error: hasEnded(state)}
	for _, r := range slices.Clone(d.runs) {
		if r.verdict != nil {
			stop := *r.verdict
			d.end(r, stop)
			continue
		}
		d.end(r, stop)
	}
	for _, p := range slices.Clone(d.prompts) {
		if p.own {
			d.failPrompt(p, stop, t)
		}
	}
}

func hasEnded(state string) string { return fmt.Sprintf("The session has ended (%s).", state) }

// failPrompt ends a prompt that has no run.
func (d *Decoder) failPrompt(p *prompt, stop trace.Stop, t agent.Turns) {
	if r := d.begin(p, p.channel, t); r != nil {
		d.end(r, stop)
	}
}

// queued notes that a prompt waits.
func (d *Decoder) queued(f wire.StatusData) {
	if f.QueueReason == wire.QueueWaking {
		d.asleep = true
	}
	if d.theirs {
		return
	}
	for _, p := range slices.Backward(d.prompts) {
		if p.own && p.phase == sent {
			p.on(waits)
			return
		}
	}
}

// atRest notes that the agent has nothing to do.
func (d *Decoder) atRest(t agent.Turns) {
	if d.duplicateEnd() {
		return
	}
	d.superseded(t)
	d.unbegun(nil, t)
}

// failed takes an error of the session, in any of its four shapes.
func (d *Decoder) failed(f wire.Error, t agent.Turns) {
	text := cmp.Or(f.Text(), turnFailed)
	promptID := f.MessageID
	if f.Data != nil {
		promptID = f.Data.PromptID
	}
	r := d.runOf(promptID, f.Channel)
	if f.Message != "" && strings.HasPrefix(f.Message, unsupported) {
		d.emit(r, trace.Error{Code: "attachment", Message: f.Message}, t)
		return
	}
	stop := trace.Stop{Reason: wire.ReasonError, Outcome: trace.OutcomeFailed, Error: text}
	if f.Message != "" && promptID == "" {
		if r = d.rejected(stop, t); r == nil {
			return
		}
	}
	if r != nil && r.course == stopping {
		stop = halted()
	}
	if r != nil {
		d.end(r, stop)
		return
	}
	p := d.byID(promptID)
	switch {
	case p == nil && text == d.lastErr: // a runner's, told to browsers
		return
	case p == nil && f.Channel != (wire.Channel{}):
		p = d.next(f.Channel.Name(""), true)
	case p == nil:
		for _, o := range d.prompts {
			if o.own {
				p = o
				break
			}
		}
	}
	if p == nil {
		t.Note(trace.Error{Code: "session", Message: text})
		return
	}
	d.failPrompt(p, stop, t)
}

// rejected takes what is wrong with a frame, which only its sender is told: it ends the
// prompt that was sent last, or else what runs for one of ours, and nobody else's turn.
// It returns the run that is to end.
func (d *Decoder) rejected(stop trace.Stop, t agent.Turns) *run {
	for _, p := range slices.Backward(d.prompts) {
		if p.own && p.phase == sent {
			d.failPrompt(p, stop, t)
			return nil
		}
	}
	for _, r := range slices.Backward(d.runs) {
		if r.prompt == nil || r.prompt.own {
			return r
		}
	}
	if stop.Error != d.lastErr {
		t.Note(trace.Error{Code: "session", Message: stop.Error})
	}
	return nil
}

// unsupported begins the one error after which the prompt runs all the same: without
// the files that the session agent does not take.
const unsupported = "Unsupported file type"

// emit writes to a run, else outside of any.
func (d *Decoder) emit(r *run, p trace.Payload, t agent.Turns) {
	if r != nil {
		r.b.Emit(p)
		return
	}
	t.Note(p)
}
