package toolkind

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// Stated returns the name and the kind of a tool of an agent that states them, as agents of ACP
// do. The kind is that of the user's override, else of the table, else the stated one. Name and
// kind may be empty. A guess at the name may come from a model or be the text of a command. So a
// guess never lowers the stated kind: it counts if the table does not know it, has the stated
// kind for it, or a graver one.
func (t Table) Stated(name, guess string, stated trace.ToolKind) (rawName string, kind trace.ToolKind) {
	kind = trace.ToolOther
	if slices.Contains(Kinds(), stated) {
		kind = stated
	}
	if guessed := t.Kind(guess); name == "" && (!t.Knows(guess) || guessed == kind || gravity(guessed) > gravity(kind)) {
		name = guess
	}
	if name != "" && t.Knows(name) {
		kind = t.Kind(name)
	}
	return cmp.Or(name, string(stated), "tool"), kind
}

// gravity orders kinds by what a call of the kind may do.
func gravity(k trace.ToolKind) int {
	switch k {
	case trace.ToolThink:
		return 0
	case trace.ToolRead, trace.ToolSearch:
		return 1
	case trace.ToolFetch:
		return 2
	case trace.ToolEdit, trace.ToolMove, trace.ToolDelete:
		return 3
	default:
		return 4
	}
}
