package agentops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// agentStatus takes what the agent does. An idle agent has not ended its turn: it is idle while
// it asks, and before it has told its end.
func (d *Decoder) agentStatus(f wire.AgentStatus, to agent.Turns) {
	idle := f.Status == wire.StatusIdle
	if !idle {
		d.runner(acts)
	}
	t := d.about("", f.Channel)
	if t == nil && !idle && f.Status != wire.StatusError {
		if t = d.next(f.Channel.Name(""), true); t != nil {
			t = d.begin(t, t.channel, to)
		}
	}
	if t == nil {
		return
	}
	if idle {
		t.courseOn(goesIdle)
	} else if t.courseOn(isBusy); t.message != nil && !t.message.away {
		t.message.flush()
	}
	if t.course != stopping {
		t.b.Emit(trace.Status{State: trace.State(f.Status), Detail: f.Detail})
	}
}

// asleep reports whether a session in that state is on its way up.
func asleep(state string) bool {
	return slices.Contains([]string{wire.SessionInitializing, wire.SessionHibernating, wire.SessionHibernated, wire.SessionRestoring}, state)
}

// status takes what has changed about the session.
func (d *Decoder) status(f wire.StatusData, to agent.Turns) {
	switch f.Status {
	case "":
	case wire.SessionTerminated, wire.SessionArchived:
		d.gone(f.Status, to)
	case wire.SessionError: // the reason comes with the next frame
		for _, t := range slices.Clone(d.turns) {
			if t.own && t.phase <= given {
				d.begin(t, t.channel, to)
			}
		}
		for t := range d.running() {
			t.verdict = &trace.Stop{Reason: "session_error", Outcome: trace.OutcomeFailed, Class: trace.ClassGateway, Error: "The session has failed."}
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
		d.waits(f.QueueReason)
	}
	if f.PromptDequeued {
		d.runner(dealt)
		d.dequeued(to)
	}
	if f.RunnerBusy != nil && !*f.RunnerBusy && !d.duplicateEnd() {
		d.cutAll(nil)
		d.cutUnbegun(nil, to)
	}
	if f.QueueCleared {
		for _, t := range slices.Clone(d.turns) {
			if t.inQueue() {
				d.withdraw(t)
			}
		}
	}
}

// gone ends all turns: the session has ended.
func (d *Decoder) gone(state string, to agent.Turns) {
	stop := trace.Stop{Reason: "session_ended", Outcome: trace.OutcomeFailed, Class: trace.ClassGateway, Error: fmt.Sprintf("The session has ended (%s).", state)}
	for _, t := range slices.Clone(d.turns) {
		switch {
		case t.runs():
			d.end(t, *cmp.Or(t.verdict, &stop))
		case t.own:
			d.fail(t, stop, to)
		}
	}
}

// unsupported begins the one error after which the prompt runs: without files that the session
// agent does not take.
const unsupported = "Unsupported file type"

// failed takes an error of the session, in any of its four shapes. Frame.Message is what is
// wrong with a frame, which only its sender gets.
func (d *Decoder) failed(f wire.Error, to agent.Turns) {
	text, promptID := cmp.Or(f.Text(), turnFailed), f.MessageID
	if f.Data != nil {
		promptID = f.Data.PromptID
	}
	t := cmp.Or(d.about(promptID, f.Channel), d.byID(promptID))
	switch {
	case strings.HasPrefix(f.Message, unsupported):
		d.emit(d.about(promptID, f.Channel), trace.Error{Code: "attachment", Message: f.Message}, to)
		return
	case f.Message != "" && promptID == "":
		t = d.newestOwn()
	case t != nil || text == d.lastErr: // a runner's error may come twice
	case f.Channel != (wire.Channel{}):
		t = d.next(f.Channel.Name(""), true)
	default:
		t = d.first(func(t *turn) bool { return t.own })
	}
	stop := stopOf(wire.ReasonError, text)
	switch {
	case t != nil && t.runs() && t.course == stopping:
		d.end(t, stopped())
	case t != nil && t.runs():
		if t.verdict != nil {
			stop.Class = t.verdict.Class
		}
		d.end(t, stop)
	case t != nil:
		d.fail(t, stop, to)
	case text != d.lastErr:
		to.Note(trace.Error{Code: "session", Message: text})
	}
}

// newestOwn finds the turn of our newest prompt, or else a turn that runs.
func (d *Decoder) newestOwn() *turn {
	for _, t := range slices.Backward(d.turns) {
		if t.own && t.phase == sent {
			return t
		}
	}
	return d.newestRunning(func(t *turn) bool { return t.own || !t.prompted() })
}

// emit writes to a turn, else outside of any.
func (d *Decoder) emit(t *turn, p trace.Payload, to agent.Turns) {
	if t != nil {
		t.b.Emit(p)
		return
	}
	to.Note(p)
}
