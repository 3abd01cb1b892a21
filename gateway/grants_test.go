package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session"
)

// A grant is listed, and revoked once.
func TestGrantsAreShownAndRevoked(t *testing.T) {
	s := newStand(t, func(o *session.Options) { o.Approval = session.Pause })
	_, _, body := s.do("POST", "/api/chat", submit("c1", "u1", "approve"))
	_, rest, _ := strings.Cut(body, `"approvalId":"`)
	request, _, _ := strings.Cut(rest, `"`)
	if status, _, body := s.do("POST", "/api/sessions/c1/permissions/"+request, `{"option":"allow_always"}`); status != 200 {
		t.Fatalf("answer %d %s", status, body)
	}
	var list struct {
		Grants []struct{ ID, Scope, Tool, By string }
	}
	status, _, body := s.do("GET", "/api/sessions/c1/grants", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || len(list.Grants) != 1 {
		t.Fatalf("grants %d %s, %v", status, body, err)
	}
	if g := list.Grants[0]; g.Scope != "session" || g.Tool != "shell" || g.By != "ada" {
		t.Errorf("the grant is %+v", g)
	}
	path := "/api/sessions/c1/grants/" + list.Grants[0].ID
	if status, _, body := s.do("DELETE", path, ""); status != 204 {
		t.Errorf("revoke %d %s", status, body)
	}
	if status, _, body := s.do("DELETE", path, ""); status != 404 || !strings.Contains(body, `"unknown_grant"`) {
		t.Errorf("revoke twice %d %s", status, body)
	}
	if _, _, body := s.do("GET", "/api/sessions/c1/grants", ""); strings.TrimSpace(body) != `{"grants":[]}` {
		t.Errorf("after that %s", body)
	}
	if status, _, _ := s.do("GET", "/api/sessions/nope/grants", ""); status != 404 {
		t.Errorf("the grants of no session: %d", status)
	}
}
