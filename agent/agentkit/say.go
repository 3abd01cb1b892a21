package agentkit

import (
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
