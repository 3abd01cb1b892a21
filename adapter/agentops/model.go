package agentops

import (
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// uses puts on record which model the agent uses now. Agent Ops names the provider first, and then
// the model; a text of another form is no such name.
func (d *Decoder) uses(id string, to agent.Turns) {
	provider, model, named := strings.Cut(id, "/")
	if named && id != d.model {
		d.model = id
		to.Note(trace.AgentInfo{Provider: provider, Model: model}.Payload())
	}
}
