package agentkit

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Bookmark is a moment of a conversation that the agent keeps: all that was said up to a
// message, or up to the end of a turn.
type Bookmark struct {
	Conversation string
	Moment       string // the agent's id; "" is wherever the conversation has got to
}

// ParseBookmark reads a resume token that Token has made.
func ParseBookmark(token string) Bookmark {
	conversation, moment, _ := strings.Cut(token, "@")
	return Bookmark{conversation, moment}
}

// Token is the bookmark as a resume token.
func (b Bookmark) Token() string {
	if b.Moment == "" {
		return b.Conversation
	}
	return b.Conversation + "@" + b.Moment
}

// Rewinds implements agent.Rewinder for an agent whose resume tokens are bookmarks.
func Rewinds(token string) bool { return token == "" || ParseBookmark(token).Moment != "" }

// SessionLost says that an agent has forgotten a conversation. The name is the agent's.
func SessionLost(name string) trace.Error {
	return trace.Error{Code: "session_lost", Message: name + " does not know this conversation any more; it starts without memory."}
}

// PlaceLost says that an agent cannot go back. The name is the agent's.
func PlaceLost(name string) trace.Error {
	return trace.Error{Code: "place_lost", Message: name + " does not find its place in this conversation any more, so it may still remember what was removed."}
}
