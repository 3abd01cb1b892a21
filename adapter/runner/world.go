package runner

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// largestWorld bounds what is kept of an event of the agent's world.
const largestWorld = 1 << 20

// world makes a domain event of a frame that is no part of the conversation: what
// becomes of the repository, and of other sessions.
func world(f agentops.Frame) (trace.Data, bool) {
	other, is := f.(agentops.Other)
	name, known := map[string]string{
		"git-state": "git-state", "pr-created": "pull-request", "files-changed": "files-changed", "child-session": "child-session",
		"diff": "diff", "review-result": "review-result",
	}[f.Type()]
	if !is || !known || len(other.Raw) > largestWorld {
		return trace.Data{}, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(other.Raw, &fields) != nil {
		return trace.Data{}, false
	}
	delete(fields, "type")
	value, err := json.Marshal(fields)
	if inner, wrapped := fields["data"]; wrapped && len(fields) == 1 {
		value = inner
	}
	return trace.Data{Name: name, ID: name, Value: value, Domain: true}, err == nil
}
