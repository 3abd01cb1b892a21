package toolloop

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// Grants remembers what a person has allowed for the rest of a session. A command is
// granted by its exact input, any other tool by its name. The policy is asked before the
// grants. Grants are safe for concurrent use; the zero value is empty.
type Grants struct {
	mu    sync.Mutex
	given map[string]trace.PermissionResponse
}

// options are the answers that a person can choose from.
func (g *Grants) options(kind trace.ToolKind, name string) []trace.PermissionOption {
	all := []trace.PermissionOption{{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce}}
	if g != nil {
		label := "Always allow " + name + " in this session"
		if kind == trace.ToolExecute {
			label = "Always allow this command in this session"
		}
		all = append(all, trace.PermissionOption{ID: "always", Name: label, OptionKind: trace.AllowAlways})
	}
	return append(all, trace.PermissionOption{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce})
}

func (g *Grants) add(c trace.ToolCall, given trace.PermissionResponse) {
	if g == nil || given.OptionKind != trace.AllowAlways {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.given == nil {
		g.given = map[string]trace.PermissionResponse{}
	}
	g.given[grantKey(c)] = trace.PermissionResponse{
		Outcome: trace.Selected, ChosenOption: given.ChosenOption, OptionKind: given.OptionKind,
		By: "grant", Reason: strings.TrimSpace("Always allowed in this session. " + given.By),
	}
}

// find returns the answer that still holds for a call.
func (g *Grants) find(c trace.ToolCall) (trace.PermissionResponse, bool) {
	if g == nil {
		return trace.PermissionResponse{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	given, ok := g.given[grantKey(c)]
	return given, ok
}

func grantKey(c trace.ToolCall) string {
	if c.ToolKind != trace.ToolExecute {
		return c.RawName
	}
	var input bytes.Buffer
	if json.Compact(&input, c.Input) != nil {
		return c.RawName + " " + string(c.Input)
	}
	return c.RawName + " " + input.String()
}
