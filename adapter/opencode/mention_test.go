//go:build unix

package opencode_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
)

//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	t.Parallel()
	_, r := attached(t)
	d := permissiontest.Workspace(t)
	permissiontest.CheckSent(t, agenttest.Sent(t, r, d, permissiontest.MentioningParts(d)))
}

func TestTheFilesOfAPromptReachTheAgent(t *testing.T) {
	t.Parallel()
	_, r := attached(t)
	agenttest.CheckFiles(t, agenttest.Sent(t, r, permissiontest.Workspace(t), agenttest.FileParts("plain")), "point.png", "notes.txt", "paper.pdf", "things.zip", "web.png", "web.txt")
}
