package claude_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
)

// TestAPromptMentionsNoFileOutsideInAnyField: Claude Code reads a file that its words mention,
// and asks nobody.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	permissiontest.CheckSent(t, agenttest.Sent(t, fakeRuntime(t, "plain"), d, permissiontest.MentioningParts(d)))
}

func TestTheFilesOfAPromptReachTheAgent(t *testing.T) {
	t.Parallel()
	agenttest.CheckFiles(t, agenttest.Sent(t, fakeRuntime(t, "plain"), permissiontest.Workspace(t), agenttest.FileParts("plain")), "point.png", "notes.txt", "paper.pdf", "web.png")
}
