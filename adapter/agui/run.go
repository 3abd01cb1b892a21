package agui

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// runStarted begins a run. Several may follow each other on one stream.
func (d *Decoder) runStarted(t *turn, e event) {
	t.verdict, t.snapshot, t.named, t.legacy, t.tokens = nil, nil, nil, nil, nil
	clear(t.text.open)
	clear(t.thought.open)
	clear(t.thought.pieces)
	t.b.StepStart(trace.Step{NativeID: e.RunID})
	t.news = false
	if e.RunID != "" {
		t.input.RunID = e.RunID
	}
}

// runFinished ends a run. The turn ends with the stream, unless the run asks for something.
func (d *Decoder) runFinished(t *turn, e event) {
	if t.verdict != nil || d.Waits() {
		return // the first end counts
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
		d.ask(t, question, o.Interrupts)
	case len(t.legacy) > 0:
		d.ask(t, old, t.interrupts())
	case t.cancels && len(t.said.messages) == 0: // Microsoft's framework reads no prompt then
		t.cancels = false
		d.Again(t.b)
	default:
		t.verdict = &trace.Stop{Reason: cmp.Or(finishReasons[e.FinishReason], "stop"), Outcome: trace.OutcomeCompleted}
		d.ask(t, toolUse, t.pending(o.PendingToolCallIDs))
	}
}

// finishReasons are those that clients tell apart. TanStack AI says them; the protocol does
// not know them.
var finishReasons = map[string]string{"length": "length", "content_filter": "content-filter", "content-filter": "content-filter"} //nolint:gochecknoglobals // never written

// runError ends a run that failed.
func (d *Decoder) runError(t *turn, e event) {
	if t.verdict != nil || d.Waits() {
		return // as above
	}
	d.closeRun(t, e)
	t.verdict = &trace.Stop{Reason: cmp.Or(plain(e.Code), "error"), Outcome: trace.OutcomeFailed, Class: remote.ClassOf(plain(e.Code), plain(e.Message)), Error: cmp.Or(plain(e.Message), plain(e.Code), "The run failed, and the agent did not say why.")}
}

// closeRun completes what a run has left open.
func (d *Decoder) closeRun(t *turn, e event) {
	for _, id := range t.order {
		d.whole(t, id)
	}
	o := e.outcome()
	d.releaseAll(t, len(t.legacy)+len(o.Interrupts)+len(o.PendingToolCallIDs) > 0)
	if e.Type == "RUN_FINISHED" {
		d.plain = t.snapshot == nil
	}
	d.showSnapshot(t)
	t.show(t.unsent...)
	t.unsent = nil
	all := t.tokens
	var one usage
	if read(e.Usage, &one) {
		all = []usage{one}
	} else {
		read(e.Usage, &all)
	}
	if len(all) == 0 {
		return
	}
	used := &t.used
	used.Scope = trace.UsageTurn
	for _, u := range all {
		used.Model = cmp.Or(u.Model, used.Model)
		*used = used.Plus(trace.Usage{
			InputTokens: u.InputTokens + u.PromptTokens, OutputTokens: u.OutputTokens + u.CompletionTokens, ReasoningTokens: u.ReasoningTokens,
			CacheReadTokens: u.CachedInputTokens, CacheWriteTokens: u.CacheWriteInputTokens,
		}.CacheBy(u.TotalTokens))
	}
	t.b.Emit(*used)
	if used.Model != "" {
		d.t.Note(trace.AgentInfo{Model: used.Model}.Payload())
	}
}

// streamEnded ends the turn if its run is over.
func (d *Decoder) streamEnded() {
	if t := d.turn; t != nil && !d.Waits() {
		d.releaseAll(t, false)
		d.AtEnd(d.t)
	}
}

// AtEnd ends the last turn of a recording. One that has called tools of the app is complete.
func (d *Decoder) AtEnd(agent.Turns) {
	if t := d.turn; t != nil && t.verdict != nil {
		t.b.End(*t.verdict)
		d.turn = nil
	}
}

// lost reports whether the turn has no end.
func (d *Decoder) lost() bool { return d.turn != nil && !d.turn.b.Over() }

// Finished implements remote.Finisher. A run that is over and has called tools of the
// endpoint's own goes on as another run on the same stream.
func (d *Decoder) Finished() bool {
	t := d.turn
	return t != nil && (d.Waits() || t.verdict != nil && !slices.ContainsFunc(t.order, func(id string) bool { return !t.calls[id].done }))
}
