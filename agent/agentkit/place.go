package agentkit

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Place is a moment of a conversation that the agent keeps: all that was said up to a
// message, or up to the end of a turn.
type Place struct {
	Conversation string
	Moment       string // the agent's id; "" is wherever the conversation has got to
}

// ParsePlace reads a resume token that Token has made.
func ParsePlace(token string) Place {
	conversation, moment, _ := strings.Cut(token, "@")
	return Place{conversation, moment}
}

// Token is the place as a resume token.
func (p Place) Token() string {
	if p.Moment == "" {
		return p.Conversation
	}
	return p.Conversation + "@" + p.Moment
}

// Rewinds implements agent.Rewinder for an agent whose resume tokens are places.
func Rewinds(token string) bool { return token == "" || ParsePlace(token).Moment != "" }

// SessionLost says that an agent has forgotten a conversation. The name is the agent's.
func SessionLost(name string) trace.Error {
	return trace.Error{Code: "session_lost", Message: name + " does not know this conversation any more; it starts without memory."}
}

// PlaceLost says that an agent cannot go back. The name is the agent's.
func PlaceLost(name string) trace.Error {
	return trace.Error{Code: "place_lost", Message: name + " does not find its place in this conversation any more, so it may still remember what was removed."}
}
