package runner_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
)

//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	r := runner.New(runner.Options{Token: token})
	go ready(t, r).serve()
	d := permissiontest.Workspace(t)
	permissiontest.CheckSent(t, agenttest.Sent(t, r, d, permissiontest.MentioningParts(d)))
}
