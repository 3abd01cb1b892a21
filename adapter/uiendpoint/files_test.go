package uiendpoint_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

func TestTheFilesOfAPromptReachTheEndpoint(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := newConversation(t, f.url(), uiendpoint.Settings{})
	p := prompt("plain")
	p.Message.Parts = agenttest.FileParts("plain")
	r := c.host.Turn(p)
	c.finished(r, c.session.Prompt(t.Context(), p, r.Builder))
	sent, err := json.Marshal(f.requests())
	if err != nil {
		t.Fatal(err)
	}
	agenttest.CheckFiles(t, sent, "point.png", "notes.txt", "paper.pdf", "things.zip", "web.png", "web.txt")
}
