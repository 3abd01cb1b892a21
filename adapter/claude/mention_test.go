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
