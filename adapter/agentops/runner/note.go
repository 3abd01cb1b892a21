package runner

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// largestEvent bounds the size of a domain event.
const largestEvent = 1 << 20

// notesOf makes records of a frame that is no part of the conversation. Domain events are the
// state of the repository, and of other sessions.
func notesOf(f wire.Frame) (notes []trace.Payload) {
	switch f := f.(type) {
	case wire.Title:
		if f.Title != "" {
			notes = append(notes, trace.Data{Name: "title", Value: agentkit.Encode(f.Title)})
		}
	case wire.Other:
		name, known := map[string]string{
			"git-state": "git-state", "pr-created": "pull-request", "files-changed": "files-changed", "child-session": "child-session",
			"diff": "diff", "review-result": "review-result",
		}[f.Name]
		var fields map[string]json.RawMessage
		if !known || len(f.Raw) > largestEvent || json.Unmarshal(f.Raw, &fields) != nil {
			return nil
		}
		delete(fields, "type")
		value, wrapped := fields["data"]
		if !wrapped || len(fields) > 1 {
			value = agentkit.Encode(fields)
		}
		notes = append(notes, trace.Data{Name: name, ID: name, Value: value, Domain: true})
	}
	return notes
}
