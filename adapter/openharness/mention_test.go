package openharness_test

import (
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

// A server of Open Harness takes no files.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutside(t *testing.T) {
	for _, r := range []agent.Runtime{
		openharness.Runtime{URL: newKernel(t).address()},
		openharness.Runtime{URL: newWeb(t).URL, Options: openharness.Options{Protocol: openharness.HTTP02}},
	} {
		d := permissiontest.Workspace(t)
		parts := slices.DeleteFunc(permissiontest.MentioningParts(d), func(p trace.InputPart) bool { return p.Type != trace.InputText })
		permissiontest.CheckSent(t, agenttest.Sent(t, r, d, parts))
	}
}
