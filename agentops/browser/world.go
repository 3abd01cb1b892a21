package browser

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// world makes a frame of an event of the agent's world, where Agent Ops has one for it.
func world(p trace.Data) (agentops.Frame, bool) {
	kind, known := map[string]struct {
		frame   string
		wrapped bool // its fields stand under data
	}{
		"git-state": {"git-state", true}, "pull-request": {"pr-created", true}, "files-changed": {frame: "files-changed"},
		"child-session": {frame: "child-session"}, "diff": {frame: "diff"}, "review-result": {frame: "review-result"},
		"model-switched": {frame: "model-switched"}, "auth-required": {frame: "integration-auth-required"},
	}[p.Name]
	var fields map[string]json.RawMessage
	if !p.Domain || !known || json.Unmarshal(p.Value, &fields) != nil || fields == nil {
		return nil, false
	}
	if kind.wrapped {
		fields = map[string]json.RawMessage{"data": p.Value}
	}
	typ, _ := json.Marshal(kind.frame) // a word of ours
	fields["type"] = typ
	raw, err := json.Marshal(fields)
	return agentops.Other{Name: kind.frame, Raw: raw}, err == nil
}
