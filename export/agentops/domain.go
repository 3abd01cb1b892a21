package agentops

import (
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// domainEvent makes a frame of a domain event, if Agent Ops has one for it.
func domainEvent(p trace.Data) (wire.Frame, bool) {
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
	return wire.Other{Name: kind.frame, Raw: raw}, err == nil
}

// filesChanged lists the files that a turn has changed.
type filesChanged struct {
	Files []changedFile `json:"files"`
}

// Type implements agentops.Frame.
func (filesChanged) Type() string { return "files-changed" }

type changedFile struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// change notes a changed file, each once.
func (u *turn) change(c trace.FileChange) {
	const most = 1000
	i := slices.IndexFunc(u.changes, func(f changedFile) bool { return f.Path == c.Path })
	if i < 0 && len(u.changes) < most {
		i = len(u.changes)
		u.changes = append(u.changes, changedFile{Path: c.Path})
	}
	if i >= 0 {
		u.changes[i].Status = map[trace.ChangeKind]string{
			trace.FileCreated: "added", trace.FileModified: "modified", trace.FileDeleted: "deleted", trace.FileMoved: "renamed",
		}[c.Change]
	}
}
