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
	}{
		{"bob", "collaborator", "/deploy now", 403},
		{"bob", "collaborator", "what is /deploy?", 200},
		{"ann", "admin", "/deploy now", 200},
	} {
		status, _, body := s.do("POST", "/api/chat", submit("s", "u"+c.who+c.text, c.text), as(c.who, c.role)...)
		if status != c.status || status == 403 && !strings.Contains(body, "Your role may not send the command /deploy") {
			t.Errorf("%s sends %q: %d %s", c.who, c.text, status, body)
		}
	}
}
