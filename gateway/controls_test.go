package gateway_test

import (
	"strings"
	"testing"
)

func TestASessionBeginsWithTheModeAndTheModelThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	s := newStandWith(t)
	status, _, body := s.do("POST", "/api/sessions", `{"id":"s","mode":"plan","model":"demo-mini"}`, as("root", "admin")...)
	if status != 201 || !strings.Contains(body, `"mode":"plan","model":"demo-mini"`) {
		t.Errorf("the session is %d %s", status, body)
	}
	_, _, stream := s.do("POST", "/api/chat", submit("s", "u1", "about"), as("root", "admin")...)
	if !strings.Contains(stream, `"plan "`) || !strings.Contains(stream, `"demo-mini."`) {
		t.Errorf("the agent says %s", stream)
	}
	const want = `{"mode":"plan","modes":[{"id":"ask","name":"Ask","description":"Asks before each command"},`
	if _, _, body := s.do("GET", "/api/sessions/s/controls", "", as("vera", "viewer")...); !strings.HasPrefix(body, want) || !strings.Contains(body, `"steer":true,"files":false`) {
		t.Errorf("the controls are %s", body)
	}
	if _, _, body := s.do("GET", "/api/agents", "", as("vera", "viewer")...); !strings.Contains(body, `"commands":[{"name":"help","description":"List all scripts"}`) {
		t.Errorf("the agents are %s", body)
	}
	s.all([]asked{
		{"carl", "collaborator", "POST", "/api/sessions", `{"id":"t","mode":"auto"}`, 403},
		{"carl", "collaborator", "POST", "/api/sessions", `{"id":"t","model":"demo-mini"}`, 201},
		{"carl", "collaborator", "GET", "/api/sessions/none/controls", "", 404},
	})
}
