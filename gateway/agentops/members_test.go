package agentops_test

import (
	"strings"
	"testing"
)

// The participants come in the words of Agent Ops: the owner of a session and the sender.
// Only owners get the members.
func TestB07_ParticipantsOfASession(t *testing.T) {
	s := newStand(t, nil, privately)
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s","title":"Notes"}`, 201},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/carl", `{"role":"collaborator"}`, 200},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, 200},
		{"ada", "collaborator", "POST", "/api/sessions", `{"id":"flow","kind":"workflow"}`, 201},
		{"carl", "viewer", "GET", "/api/sessions/flow/participants", "", 404},
		{"bob", "collaborator", "GET", "/api/sessions/s/participants", "", 404},
	})
	const owner, carl, vera = `{"userId":"ada","role":"owner"}`, `{"userId":"carl","role":"collaborator"}`, `{"userId":"vera","role":"viewer"}`
	for _, c := range []struct{ who, role, path, says string }{
		{"ada", "viewer", "/api/sessions/s/participants", `{"participants":[` + owner + `,` + carl + `,` + vera + `]}`},
		{"root", "admin", "/api/sessions/s/participants", `{"participants":[` + owner + `,` + carl + `,{"userId":"root","role":"owner"},` + vera + `]}`},
		{"carl", "viewer", "/api/sessions/s/participants", `{"participants":[` + owner + `,` + carl + `]}`},
		{"vera", "collaborator", "/api/sessions/s/participants", `{"participants":[` + owner + `,` + vera + `]}`},
		{"vera", "viewer", "/api/sessions/s", `"session":{"id":"s","userId":"ada","title":"Notes"}`},
		{"ada", "viewer", "/api/sessions/flow", `"session":{"id":"flow","userId":"ada","title":"","purpose":"workflow"}`},
		{"vera", "viewer", "/api/auth/me", `{"user":{"id":"vera",`},
	} {
		if status, _, body := s.do("GET", c.path, "", as(c.who, c.role)...); status != 200 || !strings.Contains(body, c.says) {
			t.Errorf("%s GET %s: %d %s, want %s", c.who, c.path, status, body, c.says)
		}
	}
	shared := newStand(t, nil)
	shared.all([]asked{{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 201}})
	_, _, body := shared.do("GET", "/api/sessions/s/participants", "", as("bob", "collaborator")...)
	if want := `{"participants":[` + owner + `,{"userId":"bob","role":"collaborator"}]}`; !strings.Contains(body, want) {
		t.Errorf("where sessions are everybody's: %s, want %s", body, want)
	}
}
