package trace

import (
	"strings"
	"time"
)

// This file has the event and the record.

// Version is the version of the JSON envelope.
const Version = 1

// Event is something that happened in a session.
type Event struct {
	// ID names the event within its session.
	ID string
	// Time is when the gateway learned of it.
	Time time.Time
	// Parent is the ID of the event that caused this one, or "". The parent of a result
	// is its call, and the parent of a permission request is the call in question. The
	// parent of a sub-agent's event is the call that started the sub-agent, or the data
	// that began the sub-agent if no call did.
	Parent string
	// Actor is who did it.
	Actor Actor
	// Payload says what happened, and is never nil.
	Payload Payload
}

// Record is an Event that the log has accepted.
type Record struct {
	Session string
	// Turn is the turn it belongs to, or "" for what happens outside a turn.
	Turn string
	// Seq grows within a session; gaps are allowed.
	Seq uint64
	Event
}

// Actor says who did something.
type Actor string

// The actors. A sub-agent is "subagent:" and the id of the call that started it, or of
// the sub-agent itself if no call did.
const (
	User    Actor = "user"
	Agent   Actor = "agent"
	Gateway Actor = "gateway"

	subagentPrefix = "subagent:"
)

// Subagent is the actor that the given tool call started.
func Subagent(toolCallID string) Actor { return Actor(subagentPrefix + toolCallID) }

// SubagentCall returns the call that started the actor, if it is a sub-agent.
func (a Actor) SubagentCall() (toolCallID string, ok bool) {
	toolCallID, ok = strings.CutPrefix(string(a), subagentPrefix)
	if !ok {
		return "", false
	}
	return toolCallID, true
}
