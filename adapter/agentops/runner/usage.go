package runner

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// count takes a report of what a turn has used. Most reports come after the end of their turn, where
// nothing can be added to the turn. Then the record holds the sum of the session since this Decoder began.
func (d *Decoder) count(tn *turn, f wire.UsageReport, t agent.Turns) {
	used := usageOf(f)
	d.used = add(d.used, used)
	for _, e := range f.Entries {
		agentkit.NoteModel(&d.model, e.Model, t)
	}
	switch {
	case used.InputTokens+used.OutputTokens == 0:
	case tn != nil && (f.TurnID == "" || slices.Contains(tn.names, f.TurnID)):
		tn.used = add(tn.used, used)
		u := tn.used
		u.Scope = trace.UsageTurn
		tn.b.Emit(u)
	default:
		u := d.used
		u.Scope = trace.UsageSession
		t.Note(u)
	}
}

// usageOf sums a report up.
func usageOf(f wire.UsageReport) (sum trace.Usage) {
	for _, e := range f.Entries {
		_, model, named := strings.Cut(e.Model, "/")
		if !named {
			model = e.Model
		}
		sum = add(sum, trace.Usage{InputTokens: max(e.InputTokens, 0), OutputTokens: max(e.OutputTokens, 0), Model: model})
	}
	return sum
}

// add adds what was used later. A sum over several models names none.
func add(sum, more trace.Usage) trace.Usage {
	switch {
	case sum == (trace.Usage{}):
		return more
	case sum.Model != more.Model:
		sum.Model = ""
	}
	return sum.Plus(more)
}
