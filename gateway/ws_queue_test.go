package gateway_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agentops"
)

// queue.promote: the turn that runs is stopped, and the prompt that waits runs now; of
// several the newest of one's own.
func TestE08_PromoteByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	ada := s.look("w1")
	ada.send(`{"type":"queue.promote"}`) // nothing waits, and nothing comes of it
	ada.prompt("slow")
	frame[agentops.Chunk](ada, nil)
	ada.send(`{"type":"queue.promote"}`)
	bob := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob", "X-Test-Role", "collaborator")
	waits := func(text string) {
		t.Helper()
		frame(ada, func(f agentops.QueueState) bool {
			return f.Data.Pending != nil && string(f.Data.Pending.Content) == text
		})
	}
	ada.prompt("echo first")
	waits("echo first")
	bob.prompt("echo second")
	waits("echo second")
	bob.prompt("echo third")
	waits("echo third")
	vera := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "vera", "X-Test-Role", "viewer")
	vera.send(`{"type":"queue.promote"}`)
	if no := frame[agentops.Error](vera, nil); no.Message != "Your role is viewer; this needs collaborator." {
		t.Errorf("%+v", no)
	}
	bob.send(`{"type":"queue.promote"}`)
	if end := frame(ada, finished); reason(end.Data) != agentops.ReasonCanceled {
		t.Errorf("the turn that ran ended with %q", reason(end.Data))
	}
	var ran []string
	for range 3 {
		user := frame(ada, func(f agentops.MessageAdded) bool { return f.Data.Role == agentops.RoleUser })
		ran = append(ran, string(user.Data.Content))
		frame(ada, finished)
	}
	if ran[0] != "echo third" || ran[1] != "echo first" || ran[2] != "echo second" {
		t.Errorf("they ran as %q", ran)
	}
}

// reason is how a message ended.
func reason(m agentops.Message) string {
	for _, p := range m.Parts {
		if p.Type == agentops.PartFinish {
			return p.Reason
		}
	}
	return ""
}
