package trace

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file keeps an agent from speaking as the gateway, or as a person.

// custom begins the name of data that an agent has named like the gateway's own.
const custom = "custom-"

// reservedNames are the names under which the gateway, a stream or an adapter says something
// that a client takes for the gateway's word, or for a person's.
func reservedNames() []string {
	return []string{
		// Made of records that have a kind of their own.
		"usage", "plan", "file-change", "notice", "error", "agent-status", subagentName, "question", "approval", "permission-request",
		// Written by the gateway, or by an adapter that knows what they mean.
		"steer", dataTitle, dataMode, dataModes, dataModels, dataCommands, dataAgent, dataScore, dataTiming, "runner", "agui", "ui-chunk",
		"user-message", "subagent-message", "subgraph-message", "interrupt",
	}
}

// agentToolName is the name of an agent's tool as clients see it. A client takes a call of a tool
// with a reserved name for a request of the gateway's, so such a name gets the prefix custom-.
func agentToolName(name string) string {
	if slices.Contains([]string{"AskUser", "AskPermission", "permission"}, name) {
		return custom + name
	}
	return name
}

// AgentMetadata is the metadata that an agent gives its message, without the keys under which the
// gateway says how the turn ended, and who took part. Values that are no objects stay as they are.
func AgentMetadata(value json.RawMessage) json.RawMessage {
	var keys map[string]json.RawMessage
	if json.Unmarshal(value, &keys) != nil {
		return value
	}
	n := len(keys)
	for _, own := range []string{"outcome", "participants", "tributary", "by", "role"} {
		delete(keys, own)
	}
	if len(keys) == n {
		return value
	}
	return quote.JSON(keys)
}

// AgentDataName is the name of data that an agent has named itself. A reserved name gets the
// prefix custom-. Clients see other characters than letters, digits, dots, underscores and
// hyphens as hyphens, so a name counts as the client sees it.
func AgentDataName(name string) string {
	if slices.Contains(reservedNames(), CleanDataName(name)) {
		return custom + name
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
// data with a reserved name; EmitOwn does not. It is false if the turn has not taken it: the
// turn is over, or may hold no more.
func (b *Builder) EmitOwn(d Data) bool {
	d.Value = CompactJSON(d.Value)
	return b.emit(d, !d.Transient && !d.Domain)
}
