package acp_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
)

// TestAPromptMentionsNoFileOutsideInAnyField: the agent of the first fake takes pictures, sounds
// and resources as such, the other gets words and links.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"plain", "bare"} {
		d := permissiontest.Workspace(t)
		permissiontest.CheckSent(t, agenttest.Sent(t, fakeRuntime(t, how), d, permissiontest.MentioningParts(d)))
	}
}

func TestTheFilesOfAPromptReachTheAgent(t *testing.T) {
	t.Parallel()
	agenttest.CheckFiles(t, agenttest.Sent(t, fakeRuntime(t, "plain"), permissiontest.Workspace(t), agenttest.FileParts("plain")), "point.png", "notes.txt", "paper.pdf", "things.zip", "web.png", "web.txt")
}
