//go:build unix

package codex_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAPromptMentionsNoFileOutsideInAnyField also sends the mentions into a running turn.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	parts := permissiontest.MentioningParts(d)
	permissiontest.CheckSent(t, agenttest.Sent(t, fakeRuntime(t, "plain"), d, parts))

	tap := &agenttest.SentTap{}
	host := agenttest.NewHost()
	host.Dir = d
	s := agenttest.Open(t, fakeRuntime(t, "plain"), host, agent.Config{Cwd: d.Path(), Tap: tap.Tap})
	agenttest.TurnWhile(t, s, host, agenttest.Prompt("slow"), func(stop func(), r *agenttest.Recorder) {
		defer stop()
		agenttest.Until[trace.MessageStart](t, r)
		tap.Reset()
		c, ok := s.(agent.Controllable)
		if !ok {
			t.Fatal("the session has no controls")
		}
		if err := c.Controls().Steer(t.Context(), agent.Prompt{Message: trace.UserMessage{Parts: parts}}); err != nil {
			t.Error(err)
		}
		permissiontest.CheckSent(t, tap.Sent())
	})
}

func TestTheFilesOfAPromptReachTheAgent(t *testing.T) {
	t.Parallel()
	agenttest.CheckFiles(t, agenttest.Sent(t, fakeRuntime(t, "plain"), permissiontest.Workspace(t), agenttest.FileParts("plain")), "point.png", "notes.txt")
}
