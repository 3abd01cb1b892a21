package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// farGateway starts a gateway in the place of the session agent, with a private session of
// ada's in which vic may look and bob may prompt.
func farGateway(t *testing.T) (*server, map[string]string) {
	t.Helper()
	tokens, conf := map[string]string{}, "auth:\n  sessions: private\n  tokens:\n"
	for who, role := range map[string]string{"ada": "collaborator", "bob": "viewer", "vic": "viewer", "eve": "collaborator", "service": "admin"} {
		tokens[who] = "token-of-" + who + "-012345678901234567890"
		conf += fmt.Sprintf("    - {name: %s, role: %s, token_file: %q}\n", who, role, file(t, who, tokens[who]))
	}
	s := startServer(t, t.TempDir(), "--agent", "demo", "--config", file(t, "far.yaml", conf+"agents:\n  demo: {options: {pace: 1ms}}\n"))
	if status, body := s.by(tokens["ada"], "POST", "/api/sessions", `{"id":"far-1","title":"Far away","agent":"demo"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	for who, role := range map[string]string{"vic": "viewer", "bob": "collaborator"} {
		if status, body := s.by(tokens["ada"], "PUT", "/api/sessions/far-1/members/"+who, `{"role":"`+role+`"}`); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	return s, tokens
}

// A gateway in the place of the session agent answers for a token as Agent Ops does: it
// names the user and the user's role in a session.
func TestB04_B07_PassThroughToAGateway(t *testing.T) {
	t.Parallel()
	far, tokens := farGateway(t)
	s := startServer(t, t.TempDir(), "--config", file(t, "near.yaml", `
auth: {pass_through: far}
agents:
  far: {adapter: agentops, url: "`+far.base+`"}
`))
	for _, c := range []struct {
		who, method, path string
		status            int
		says              string
	}{
		{"nobody", "POST", "/api/sessions/far-1/chat", 401, ""},
		{"eve", "POST", "/api/sessions/far-1/chat", 404, ""},
		{"ada", "POST", "/api/sessions/far-2/chat", 404, ""},
		{"vic", "POST", "/api/sessions/far-1/chat", 404, ""},
		{"vic", "GET", "/api/sessions/far-1/messages", 200, "[]"},
		{"bob", "POST", "/api/sessions/far-1/chat", 200, `"type":"text-end"`},
		{"ada", "POST", "/api/sessions/far-1/chat", 200, `"type":"text-end"`},
		{"vic", "GET", "/api/sessions/far-1/messages", 200, "Hello!"},
	} {
		token := tokens[c.who]
		if token == "" {
			token = "made-up-0123456789"
		}
		body := ""
		if c.method == "POST" {
			body = chat(c.who, "hello")
		}
		if status, text := s.by(token, c.method, c.path, body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.who, c.method, c.path, status, text, c.status, c.says)
		}
	}
	_, records := far.by(tokens["ada"], "GET", "/api/sessions/far-1/trace", "")
	for _, who := range []string{"ada", "bob"} {
		if !strings.Contains(records, `"by":"`+who+`"`) {
			t.Errorf("no prompt there is %s's: %s", who, records)
		}
	}
}

// A gateway asks a second gateway, with a service token, for the rights of its own users in
// the sessions there. The users have no token of the second gateway.
func TestB01_B07_TheServiceTokenFindsASessionOfAGateway(t *testing.T) {
	t.Parallel()
	far, tokens := farGateway(t)
	id := newIssuer(t)
	s := startServer(t, t.TempDir(), "--config", file(t, "near.yaml", `
auth: {mode: jwt, sessions: private, jwt: {issuer: "`+id.URL+`", audience: [tributary], default_role: collaborator}}
agents:
  far: {adapter: agentops, url: "`+far.base+`", token_file: "`+file(t, "token", tokens["service"])+`"}
`))
	for who, want := range map[string][2]int{"ada": {200, 200}, "bob": {200, 200}, "vic": {404, 200}, "eve": {404, 404}} {
		token := id.token(t, who, nil, time.Hour)
		if status, text := s.by(token, "POST", "/api/sessions/far-1/chat", chat(who, "hello")); status != want[0] || status == 200 && !strings.Contains(text, `"type":"text-end"`) {
			t.Errorf("%s prompts: %d %s", who, status, text)
		}
		if status, text := s.by(token, "GET", "/api/sessions/far-1/messages", ""); status != want[1] {
			t.Errorf("%s reads: %d %s", who, status, text)
		}
	}
}
