package agentops

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// The texts of failures that say nothing themselves, and the reason of a turn that came to its
// end.
const (
	turnFailed = "Turn failed"
	toolFailed = "Tool execution failed"
	endTurn    = wire.ReasonEndTurn
)

// stopOf says how a turn ended.
func stopOf(reason, text string) trace.Stop {
	switch reason {
	case wire.ReasonError:
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: cmp.Or(text, turnFailed)}
	case wire.ReasonCanceled:
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeCanceled, Error: text}
	}
	return trace.Stop{Reason: cmp.Or(reason, endTurn), Outcome: trace.OutcomeCompleted}
}

// end ends a turn that runs.
func (d *Decoder) end(t *turn, stop trace.Stop) {
	d.stir()
	if t.message != nil {
		t.message.flush()
	}
	t.on(ends)
	d.drop(t)
	for id, m := range d.messages {
		if m != nil && m.turn == t {
			d.forget(id)
		}
	}
	for id, a := range d.asks {
		if a.turn == t {
			delete(d.asks, id)
			d.effects = append(d.effects, agent.Withdraw{Native: id})
			d.forget(id)
		}
	}
	for _, q := range t.deferred {
		d.forget(q.native)
	}
	if stop.Outcome == trace.OutcomeFailed {
		d.lastErr = cmp.Or(stop.Error, turnFailed)
	}
	t.b.End(stop)
}

// fail ends a turn that has not begun.
func (d *Decoder) fail(t *turn, stop trace.Stop, to agent.Turns) {
	if t = d.begin(t, t.channel, to); t != nil {
		d.end(t, stop)
	}
}

// finish ends a turn as the server says. The results of calls may come after the end.
func (d *Decoder) finish(t *turn, stop trace.Stop) {
	if t.course == stopping {
		stop = stopped()
	}
	if t.message.works() && stop.Outcome != trace.OutcomeCanceled {
		t.verdict = &stop
		t.on(finishes)
		return
	}
	d.end(t, stop)
}

// cut ends a turn whose end no frame told: the agent is not busy any more, or with another turn.
func (d *Decoder) cut(t *turn) {
	switch {
	case t.verdict != nil:
		d.end(t, *t.verdict)
	case t.course != atWork:
		d.endAgain = d.endAgain || t.course != resumed
		d.end(t, stopped())
	case t.message.empty(): // the server tells nobody of a failure before the first word
		d.end(t, stopOf(wire.ReasonError, ""))
	default:
		d.end(t, stopOf(endTurn, ""))
	}
}

// cutAll ends the turns that run, except one: the agent was given something else.
func (d *Decoder) cutAll(except *turn) {
	d.unseen = false
	for _, t := range slices.Collect(d.running()) {
		if t != except {
			d.cut(t)
		}
	}
}

// cutUnbegun ends the turns that the agent was given, except one, and that never began.
func (d *Decoder) cutUnbegun(except *turn, to agent.Turns) {
	for _, t := range d.in(given) {
		switch {
		case t == except:
		case t.b == nil:
			t.on(ends)
			d.drop(t)
		case t.course == stopping:
			d.fail(t, stopped(), to)
		default:
			d.fail(t, stopOf(endTurn, ""), to)
		}
	}
}

// abort takes the wish that everything stops, which it does a little later.
func (d *Decoder) abort() {
	for _, t := range d.turns {
		if t.runs() || t.phase == given {
			t.courseOn(aborts)
		}
	}
}

// redispatched reports whether the agent was given what it has already. After a start, or the
// loss of its runner, a session agent gives the runner its prompt once more. A runner that is
// still at work says that it is done, and goes on.
func (d *Decoder) redispatched() bool {
	again := len(d.in(given)) > 0
	for t := range d.running() {
		if t.prompted() && t.course != stopping && t.verdict == nil {
			t.markResumed()
			t.endingOn(givenAgain)
			again = true
		}
	}
	return again
}

// markResumed says that a turn goes on whose agent was idle.
func (t *turn) markResumed() {
	t.courseOn(resumes)
	if t.message != nil && !t.message.away {
		t.message.flush()
	}
}

// duplicateEnd reports whether an end repeats that of a turn which was stopped, or given once
// more. The next turn, which the agent may have been given by then, has said nothing of an end.
func (d *Decoder) duplicateEnd() bool {
	again, goesOn := d.endAgain, !d.idle()
	d.endAgain = false
	for _, t := range d.turns {
		if t.course == stopping || t.verdict != nil {
			return false
		}
		again = again || t.ending == givenTwice
		goesOn = goesOn || t.phase == given
	}
	if !again || !goesOn { // where nothing is known to run, it ends something unknown
		return false
	}
	for t := range d.running() {
		t.endingOn(repeats)
		t.markResumed()
	}
	return true
}

// AtEnd ends the turns that only wait for a last word, and the wait for a second end.
func (d *Decoder) AtEnd(agent.Turns) {
	d.endAgain = false
	for _, t := range slices.Collect(d.running()) {
		switch {
		case t.verdict != nil || t.course == stopping:
			d.cut(t)
		case t.ending == maybeOver && !t.message.works(): // nothing has come since
			t.endingOn(cleared)
			d.cut(t)
		case t.ending == maybeOver || t.ending == alive:
			t.endingOn(cleared)
			t.markResumed()
		case t.ending == overUnseen:
			d.end(t, lost(streamInterrupted))
		default:
			d.release(t, true)
		}
	}
}

// unsettled reports whether AtEnd has something to do after a while.
func (d *Decoder) unsettled() bool {
	return d.endAgain || d.newestRunning(func(t *turn) bool {
		return t.verdict != nil || t.course == stopping || t.ending >= maybeOver || len(t.deferred) > 0
	}) != nil
}
