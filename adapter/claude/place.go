package claude

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// place is a moment of a conversation: all that was said up to a message, be it
// the user's, the model's, or a tool's result. Claude Code keeps a conversation as
// a tree; it resumes its newest branch and finds the messages of that one only,
// which are the ones that a session goes back to.
type place struct {
	conversation string
	message      string // its uuid; "" is wherever the conversation has got to
}

// token is the place as a resume token. The tokens of a conversation without a
// message are those of older versions, too.
func (p place) token() string {
	if p.message == "" {
		return p.conversation
	}
	return p.conversation + "@" + p.message
}

func parsePlace(token string) place {
	conversation, message, _ := strings.Cut(token, "@")
	return place{conversation, message}
}

// args makes Claude Code begin there.
func (p place) args() []string {
	var args []string
	if p.conversation != "" {
		args = append(args, "--resume", p.conversation)
	}
	if p.message != "" {
		args = append(args, "--resume-session-at", p.message)
	}
	return args
}

// elsewhere is the nearest place when Claude Code does not find this one, judged
// by what it said when it ended, and what to tell the user.
func (p place) elsewhere(said string) (next place, notice trace.Error, ok bool) {
	switch {
	case p.conversation != "" && strings.Contains(said, "No conversation found"):
		return place{}, trace.Error{Code: "session_lost", Message: "The agent's own session was lost; it starts without memory."}, true
	case p.message != "" && (strings.Contains(said, "No message found") || strings.Contains(said, "resume-session-at")): // or a version without the flag
		return place{conversation: p.conversation}, trace.Error{Code: "place_lost", Message: "The agent does not find its place in this conversation any more, so it may still remember what was removed."}, true
	}
	return place{}, trace.Error{}, false
}
