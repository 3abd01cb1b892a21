package agentkit

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
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

// Plain is the sentence in a message that a provider has sent as JSON.
func Plain(message string) string {
	if !json.Valid([]byte(message)) {
		return message
	}
	return cmp.Or(httpjson.Sentence([]byte(message)), message)
}
