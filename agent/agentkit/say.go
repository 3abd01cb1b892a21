package agentkit

import (
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Say writes to the turn that runs, or outside any turn if none runs.
func Say(t agent.Turns, p trace.Payload) {
	if b := t.Current(); b != nil && !b.Over() {
		b.Emit(p)
		return
	}
	t.Note(p)
}

// Touch tells the turn that runs, if any, that the agent is alive.
func Touch(t agent.Turns) {
	if b := t.Current(); b != nil && !b.Over() {
		b.Touch()
	}
}

// NoteModel puts on record which model the agent uses now, unless it is the last one. The id has the
// form PROVIDER/MODEL; a text of another form names no model.
func NoteModel(last *string, id string, t agent.Turns) {
	provider, model, named := strings.Cut(id, "/")
	if named && id != *last {
		*last = id
		t.Note(trace.AgentInfo{Provider: provider, Model: model}.Payload())
	}
}
