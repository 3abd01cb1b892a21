package trace

import (
	"slices"
	"strings"
)

// This file keeps an agent from speaking as the gateway, or as a person.

// renamed begins the name of data that an agent has named like the gateway's own.
const renamed = "custom-"

// reservedNames are the names under which the gateway, a stream or an adapter says something
// that a client takes for the gateway's word, or for a person's.
func reservedNames() []string {
	return []string{
		// Made of records that have a kind of their own.
		"usage", "plan", "file-change", "notice", "error", "agent-status", subagentName, "question", "approval", "permission-request",
		// Written by the gateway, or by an adapter that knows what they mean.
		"steer", dataTitle, dataMode, dataModes, dataModels, dataCommands, "runner", "agui", "ui-chunk",
		"user-message", "subagent-message", "subgraph-message", "interrupt",
	}
}

// AgentDataName is the name of data that an agent has named itself. A reserved name gets the
// prefix custom-. Clients see other characters than letters, digits, dots, underscores and
// hyphens as hyphens, so a name counts as the client sees it.
func AgentDataName(name string) string {
	if slices.Contains(reservedNames(), CleanDataName(name)) {
		return renamed + name
	}
	return name
}

// CleanDataName makes a name that every client takes for a data part's.
func CleanDataName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		default:
			return '-'
		}
	}, name)
	if name == "" {
		return "event"
	}
	return name
}

// EmitOwn writes data whose name the caller has chosen, and never the agent. Emit renames
// data with a reserved name; EmitOwn does not.
func (b *Builder) EmitOwn(d Data) {
	d.Value = CompactJSON(d.Value)
	b.emit(d, !d.Transient && !d.Domain)
}
