package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// change is what a patch does to one file.
type change struct {
	Path string     `json:"path"`
	Kind changeKind `json:"kind"`
	// Diff is the hunks of an update, and the whole text of a file that is added or
	// deleted.
	Diff string `json:"diff"`
}

// changeKind is add, delete or update. An update may move the file.
type changeKind struct {
	Type string `json:"type"`
	Move string `json:"move_path,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler: `codex exec` gives the type alone.
func (k *changeKind) UnmarshalJSON(data []byte) error {
	type plain changeKind
	if json.Unmarshal(data, &k.Type) != nil {
		return json.Unmarshal(data, (*plain)(k))
	}
	return nil
}

// patchCall is a patch as a call. Its locations are all files that it touches, also where a
// file goes.
func (d *Decoder) patchCall(id string, changes []change, root string) trace.ToolCall {
	input := object{"changes": changes}
	if len(changes) > 0 {
		input["path"] = changes[0].Path // names the file in the title
	}
	if root != "" {
		input["grant_root"] = root
	}
	call := d.classify(id, "fileChange", input)
	if more := len(changes) - 1; more > 0 {
		call.Title = fmt.Sprintf("%s and %d more", call.Title, more)
	}
	call.Locations = nil
	for _, ch := range changes {
		call.Locations = append(call.Locations, trace.Location{Path: ch.Path})
		if ch.Kind.Move != "" {
			call.Locations = append(call.Locations, trace.Location{Path: ch.Kind.Move})
		}
	}
	if root != "" {
		call.Locations = append(call.Locations, trace.Location{Path: root})
	}
	return call
}

// record is the change as a record.
func (ch change) record(call string) trace.FileChange {
	r := trace.FileChange{Path: ch.Path, ToolCallID: call, Change: trace.FileModified}
	hunks, _, _ := strings.Cut(ch.Diff, "\n\nMoved to: ")
	switch {
	case ch.Kind.Type == "add":
		r.Change, r.Diff = trace.FileCreated, trace.UnifiedDiff(ch.Path, "", ch.Diff)
	case ch.Kind.Type == "delete":
		r.Change, r.Diff = trace.FileDeleted, trace.UnifiedDiff(ch.Path, ch.Diff, "")
	case ch.Kind.Move != "":
		r.Change, r.Path = trace.FileMoved, ch.Kind.Move
	}
	if r.Diff == "" && hunks != "" {
		r.Diff = "--- " + ch.Path + "\n+++ " + r.Path + "\n" + hunks
	}
	return r
}
