package agui

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// runStarted begins a run. Several may follow each other on one stream.
func (d *Decoder) runStarted(t *turn, e event) error {
	t.verdict, t.history, t.legacy = nil, nil, nil
	t.speech.open = map[string]bool{}
	t.b.StepStart(trace.Step{NativeID: e.RunID})
	t.news = false
	if e.RunID != "" {
		t.input.RunID = e.RunID
	}
	return nil
}

// runFinished ends a run. The turn ends with the stream, unless the run asks for something.
func (d *Decoder) runFinished(t *turn, e event) error {
	if t.verdict != nil || len(t.asks) > 0 {
		return nil // the first end counts
	}
	d.closeRun(t, e)
	o := e.outcome()
	if !isNull(e.Result) {
		t.b.Emit(trace.Data{Name: "result", Value: e.Result})
	}
	switch {
	case o.Type == "cancelled":
		t.verdict = &trace.Stop{Reason: "cancelled", Outcome: trace.OutcomeCanceled}
	case len(o.Interrupts) > 0:
		d.interrupted(t, o.Interrupts)
	case len(t.legacy) > 0:
		d.interruptedLegacy(t)
	default:
		t.verdict = &trace.Stop{Reason: "stop", Outcome: trace.OutcomeCompleted}
		d.pending(t, o.Pending)
	}
	return nil
}

// runError ends a run that failed.
func (d *Decoder) runError(t *turn, e event) error {
	if t.verdict != nil || len(t.asks) > 0 {
		return nil // as above
	}
	d.closeRun(t, e)
	t.verdict = &trace.Stop{Reason: cmp.Or(plain(e.Code), "error"), Outcome: trace.OutcomeFailed, Error: cmp.Or(plain(e.Message), plain(e.Code), "The run failed, and the agent did not say why.")}
	return nil
}

// closeRun completes what a run has left open.
func (d *Decoder) closeRun(t *turn, e event) {
	for _, id := range t.order {
		d.whole(t, id)
	}
	d.showHistory(t)
	for _, name := range slices.Sorted(maps.Keys(t.unsent)) {
		t.show(name)
	}
	var all []usage
	var one usage
	if read(e.Usage, &one) {
		all = []usage{one}
	} else if !read(e.Usage, &all) || len(all) == 0 {
		return
	}
	used := &t.used
	used.Scope = trace.UsageTurn
	for _, u := range all {
		used.Model = cmp.Or(u.Model, used.Model)
		used.InputTokens += u.Input + u.Prompt
		used.OutputTokens += u.Output + u.Completion
		used.ReasoningTokens += u.Reasoning
		used.CacheReadTokens += u.CacheRead
		used.CacheWriteTokens += u.CacheWrite
	}
	t.b.Emit(*used)
}

// streamEnded ends the turn if its run is over.
func (d *Decoder) streamEnded() {
	t := d.turn
	if t == nil {
		return
	}
	t.streams--
	d.settle()
	d.next()
}

// settle ends a turn whose last run is over.
func (d *Decoder) settle() {
	if t := d.turn; t != nil && t.verdict != nil && len(t.asks) == 0 {
		t.b.End(*t.verdict)
		d.turn = nil
	}
}

// AtEnd ends the last turn of a recording. One that has called tools of the app is complete.
func (d *Decoder) AtEnd(agent.Turns) {
	t := d.turn
	if t != nil && t.verdict != nil {
		t.b.End(*t.verdict)
		d.turn = nil
	}
}

// lost reports whether the turn can only go on with a stream, and there is none.
func (d *Decoder) lost() bool {
	t := d.turn
	return t != nil && !t.b.Over() && len(t.asks) == 0 && t.streams <= 0
}

// working reports whether a run is over that has called tools of the endpoint's own, and not
// got their results: another run is to come on the same stream.
func (t *turn) working() bool {
	return slices.ContainsFunc(t.order, func(id string) bool { return !t.calls[id].done })
}
