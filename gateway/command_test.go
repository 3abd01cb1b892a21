package gateway_test

import (
	"strings"
	"testing"
)

func TestACommandOfAnAgentNeedsAnApprover(t *testing.T) {
	s := newStand(t, nil)
	for _, c := range []struct {
		who, role, text string
		status          int
		says            string
	}{
		{"bob", "collaborator", "/deploy now", 403, "Your role may not send the command /deploy"},
		{"bob", "collaborator", "/srv/app/main.go is broken", 403, "a message that begins with /srv/app/main.go, because the agent may run commands for it unasked: put a word in front of it if it is a path"},
		{"bob", "collaborator", "what is /deploy?", 200, ""},
		{"ann", "admin", "/deploy now", 200, ""},
	} {
		status, _, body := s.do("POST", "/api/chat", submit("s", "u"+c.who+c.text, c.text), as(c.who, c.role)...)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s sends %q: %d %s", c.who, c.text, status, body)
		}
	}
}
