package agentops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

// queue.promote: the turn that runs is stopped, and the prompt that waits runs now; of
// several the newest of one's own.
func TestE08_PromoteByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	ada := s.look("w1")
	ada.send(`{"type":"queue.promote"}`) // nothing waits, and nothing comes of it
	ada.prompt("slow")
	frame[wire.Chunk](ada, nil)
	ada.send(`{"type":"queue.promote"}`)
	bob := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob", "X-Test-Role", "collaborator")
	waits := func(text string) {
		t.Helper()
		frame(ada, func(f wire.QueueState) bool {
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
	if no := frame[wire.Error](vera, nil); no.Message != "Your role is viewer; this needs collaborator." {
		t.Errorf("%+v", no)
	}
	bob.send(`{"type":"queue.promote"}`)
	if end := frame(ada, finished); reason(end.Data) != wire.ReasonCanceled {
		t.Errorf("the turn that ran ended with %q", reason(end.Data))
	}
	var ran []string
	for range 3 {
		user := frame(ada, func(f wire.MessageAdded) bool { return f.Data.Role == wire.RoleUser })
		ran = append(ran, string(user.Data.Content))
		frame(ada, finished)
	}
	if ran[0] != "echo third" || ran[1] != "echo first" || ran[2] != "echo second" {
		t.Errorf("they ran as %q", ran)
	}
}

// reason is how a message ended.
func reason(m wire.Message) string {
	for _, p := range m.Parts {
		if p.Type == wire.PartFinish {
			return p.Reason
		}
	}
	return ""
}

// revert: a message and all that followed it are gone, for everybody who looks; only who
// said it takes it back.
func TestARevertByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	ada := s.look("w1")
	said := func(text string) (user, answer string) {
		t.Helper()
		ada.prompt(text)
		user = frame(ada, func(f wire.MessageAdded) bool { return f.Data.Role == wire.RoleUser }).Data.ID
		return user, frame(ada, finished).Data.ID
	}
	said("echo one")
	second, answer := said("echo two")
	bob := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob", "X-Test-Role", "collaborator")
	bob.send(`{"type":"revert","messageId":"` + second + `"}`)
	if no := frame[wire.Error](bob, nil); no.Message != "This would take back what somebody else has said: send a new message instead." {
		t.Errorf("%+v", no)
	}
	vera := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "vera", "X-Test-Role", "viewer")
	vera.send(`{"type":"revert","messageId":"` + second + `"}`)
	if no := frame[wire.Error](vera, nil); no.Message != "Your role is viewer; this needs collaborator." {
		t.Errorf("%+v", no)
	}
	ada.send(`{"type":"revert","messageId":"` + second + `"}`)
	if gone := frame[wire.MessagesRemoved](ada, nil); !slices.Equal(gone.MessageIDs, []string{second, answer}) {
		t.Errorf("%q are gone, not %q", gone.MessageIDs, []string{second, answer})
	}
	if gone := frame[wire.MessagesRemoved](bob, nil); !slices.Contains(gone.MessageIDs, second) {
		t.Errorf("bob hears of %q", gone.MessageIDs)
	}
	if _, _, history := s.do("GET", "/api/sessions/w1/messages", ""); strings.Contains(history, "echo two") || !strings.Contains(history, "echo one") {
		t.Errorf("the history is %s", history)
	}
	said("echo three")
}
