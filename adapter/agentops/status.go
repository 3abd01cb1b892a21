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

// agentStatus takes what the agent does. An idle agent has not ended its turn: it is idle while
// it asks, and before it has told its end.
func (d *Decoder) agentStatus(f wire.AgentStatus, t agent.Turns) {
	idle := f.Status == wire.StatusIdle
	if !idle {
		d.runner(acts)
	}
	r := d.runOf("", f.Channel)
	if r == nil && !idle && f.Status != wire.StatusError {
		if p := d.next(channelOf(f.Channel, ""), true); p != nil {
			r = d.begin(p, p.channel, t)
		}
	}
	if r == nil {
		return
	}
	if idle {
		r.on(goesIdle)
	} else if r.on(isBusy); r.turn != nil && !r.turn.away {
		r.turn.flush()
	}
	if r.course != stopping {
		r.b.Emit(trace.Status{State: trace.State(f.Status), Detail: f.Detail})
	}
}

// asleep reports whether a session in that state is on its way up.
func asleep(state string) bool {
	return slices.Contains([]string{wire.SessionInitializing, wire.SessionHibernating, wire.SessionHibernated, wire.SessionRestoring}, state)
}

// status takes what has changed about the session.
func (d *Decoder) status(f wire.StatusData, t agent.Turns) {
	switch f.Status {
	case "":
	case wire.SessionTerminated, wire.SessionArchived:
		d.gone(f.Status, t)
	case wire.SessionError: // the reason comes with the next frame
		for _, p := range slices.Clone(d.prompts) {
			if p.own && p.phase <= given {
				d.begin(p, p.channel, t)
			}
		}
		for _, r := range d.runs {
			r.verdict = &trace.Stop{Reason: "session_error", Outcome: trace.OutcomeFailed, Error: "The session has failed."}
		}
	default:
		d.asleep = asleep(f.Status)
	}
	if f.RunnerConnected != nil && *f.RunnerConnected {
		d.runner(came)
	} else if f.RunnerConnected != nil {
		d.runner(left)
	}
	if f.PromptQueued {
		d.queued(f.QueueReason)
	}
	if f.PromptDequeued {
		d.runner(dealt)
		d.dequeued(t)
	}
	if f.RunnerBusy != nil && !*f.RunnerBusy && !d.duplicateEnd() {
		d.superseded()
		d.unbegun(nil, t)
	}
	if f.QueueCleared {
		for _, p := range slices.Clone(d.prompts) {
			if p.phase == queued {
				d.withdraw(p)
			}
		}
	}
}

// gone ends all turns: the session has ended.
func (d *Decoder) gone(state string, t agent.Turns) {
	stop := trace.Stop{Reason: "session_ended", Outcome: trace.OutcomeFailed, Error: fmt.Sprintf("The session has ended (%s).", state)}
	for _, r := range slices.Clone(d.runs) {
		d.end(r, *cmp.Or(r.verdict, &stop))
	}
	for _, p := range slices.Clone(d.prompts) {
		if p.own {
			d.failPrompt(p, stop, t)
		}
	}
}

// unsupported begins the one error after which the prompt runs: without files that the session
// agent does not take.
const unsupported = "Unsupported file type"

// failed takes an error of the session, in any of its four shapes. Frame.Message is what is
// wrong with a frame, which only its sender gets.
func (d *Decoder) failed(f wire.Error, t agent.Turns) {
	text, promptID := cmp.Or(f.Text(), turnFailed), f.MessageID
	if f.Data != nil {
		promptID = f.Data.PromptID
	}
	r, p := d.runOf(promptID, f.Channel), d.byID(promptID)
	rejected := f.Message != "" && promptID == ""
	switch {
	case strings.HasPrefix(f.Message, unsupported):
		d.emit(r, trace.Error{Code: "attachment", Message: f.Message}, t)
		return
	case rejected:
		r, p = d.newestOfOurs()
	case r != nil || p != nil || text == d.lastErr: // a runner's error may come twice
	case f.Channel != (wire.Channel{}):
		p = d.next(channelOf(f.Channel, ""), true)
	default:
		if i := slices.IndexFunc(d.prompts, func(p *prompt) bool { return p.own }); i >= 0 {
			p = d.prompts[i]
		}
	}
	stop := trace.Stop{Reason: wire.ReasonError, Outcome: trace.OutcomeFailed, Error: text}
	switch {
	case r != nil && r.course == stopping:
		d.end(r, stopped())
	case r != nil:
		d.end(r, stop)
	case p != nil:
		d.failPrompt(p, stop, t)
	case text != d.lastErr:
		t.Note(trace.Error{Code: "session", Message: text})
	}
}

// newestOfOurs finds the prompt of ours that was sent last, or else the run of one.
func (d *Decoder) newestOfOurs() (*run, *prompt) {
	for _, p := range slices.Backward(d.prompts) {
		if p.own && p.phase == sent {
			return nil, p
		}
	}
	for _, r := range slices.Backward(d.runs) {
		if r.prompt == nil || r.prompt.own {
			return r, nil
		}
	}
	return nil, nil
}

// emit writes to a run, else outside of any.
func (d *Decoder) emit(r *run, p trace.Payload, t agent.Turns) {
	if r != nil {
		r.b.Emit(p)
		return
	}
	t.Note(p)
}
