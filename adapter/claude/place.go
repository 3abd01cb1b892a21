package claude

import (
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// Claude Code keeps a conversation as a tree, and a place in it is the uuid of a message.
// It resumes its newest branch and finds the messages of that one only, which are the
// ones that a session goes back to.

// resume makes Claude Code begin at a place.
func resume(at agentkit.Bookmark) (args []string) {
	if at.Conversation != "" {
		args = append(args, "--resume", at.Conversation)
	}
	if at.Moment != "" {
		args = append(args, "--resume-session-at", at.Moment)
	}
	return args
}

// elsewhere is the nearest place when Claude Code does not find one, judged by what it
// said when it ended, and what to tell the user.
func elsewhere(at agentkit.Bookmark, said string) (next agentkit.Bookmark, notice trace.Error, ok bool) {
	switch {
	case at.Conversation != "" && strings.Contains(said, "No conversation found"):
		return agentkit.Bookmark{}, agentkit.SessionLost(name), true
	case at.Moment != "" && (strings.Contains(said, "No message found") || strings.Contains(said, "resume-session-at")): // or a version without the flag
		return agentkit.Bookmark{Conversation: at.Conversation}, agentkit.PlaceLost(name), true
	}
	return agentkit.Bookmark{}, trace.Error{}, false
}
