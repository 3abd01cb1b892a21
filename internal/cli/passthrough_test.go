package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// farSide stands in for an Agent Ops server, which cannot run here. farSide knows three
// people and one session, and answers as that server's routes do. farSide takes no socket.
type farSide struct {
	mu    sync.Mutex
	asked []string // path and token of each request
}

func (f *farSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path+" "+token)
	f.mu.Unlock()
	user, known := map[string]string{"sk_ada_0123456789": "u_ada", "sk_vic_0123456789": "u_vic", "sk_eve_0123456789": "u_eve", "sk_service_0123456789": "u_service"}[token]
	answer := func(status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
	switch {
	case !known:
		answer(401, `{"error":"Unauthorized","code":"UNAUTHORIZED"}`)
	case r.URL.Path == "/api/auth/me":
		answer(200, `{"user":{"id":"`+user+`"}}`)
	case !strings.HasPrefix(r.URL.Path, "/api/sessions/far-1"), user == "u_eve":
		answer(404, `{"error":"Session not found","code":"NOT_FOUND"}`)
	case r.URL.Path == "/api/sessions/far-1":
		answer(200, `{"session":{"id":"far-1","userId":"u_ada","title":"Far away"}}`)
	case r.URL.Path == "/api/sessions/far-1/participants":
		answer(200, `{"participants":[{"userId":"u_vic","role":"viewer"}]}`)
	default:
		answer(404, `{"error":"Not found","code":"NOT_FOUND"}`)
	}
}

// In a session of Agent Ops a caller has the rights that Agent Ops gives to the caller's own
// token.
func TestB04_B07_PassThroughToAgentOps(t *testing.T) {
	t.Parallel()
	far := &farSide{}
	server := agenttest.NewShakyServer(t, far)
	conf := file(t, "tributary.yaml", `
log_level: debug
auth: {pass_through: ops}
agents:
  ops: {adapter: agentops, url: "`+server.URL+`", options: {connect_timeout: 2s}}
`)
	s := startServer(t, t.TempDir(), "--config", conf)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
	}{
		{"sk_nobody_0123456789", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 401},
		{"sk_eve_0123456789", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 404},
		{"sk_vic_0123456789", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 404},
		{"sk_ada_0123456789", "POST", "/api/sessions/far-2/chat", chat("x", "hello"), 404},
		{"sk_vic_0123456789", "GET", "/api/sessions/far-1/messages", "", 200},
		{"sk_vic_0123456789", "POST", "/api/sessions/far-1/stop", "", 403},
		{"sk_ada_0123456789", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 200}, // which fails for want of a socket
		{s.token, "POST", "/api/sessions/far-3/chat", chat("x", "hello"), 404},
	} {
		if status, body := s.by(c.token, c.method, c.path, c.body); status != c.status {
			t.Errorf("%.6s %s %s: %d %s", c.token, c.method, c.path, status, body)
		}
	}
	status, session := s.do("GET", "/api/sessions/far-1", "")
	if status != 200 || !strings.Contains(session, `"agent":"ops"`) || !strings.Contains(session, `"title":"Far away"`) {
		t.Errorf("%d %s", status, session)
	}
	_, records := s.do("GET", "/api/sessions/far-1/trace", "")
	if !strings.Contains(records, `"by":"ops:u_ada"`) {
		t.Errorf("the trace is %s", records)
	}
	far.mu.Lock()
	asked := slices.Clone(far.asked)
	far.mu.Unlock()
	for _, one := range asked {
		if strings.Contains(one, s.token) || strings.HasSuffix(one, " ") {
			t.Errorf("Agent Ops was asked without the caller's own token: %s", one)
		}
	}
	if !slices.ContainsFunc(asked, func(a string) bool { return strings.HasSuffix(a, "/ws sk_ada_0123456789") }) {
		t.Errorf("no socket was tried with the caller's own token: %q", asked)
	}
	server.Leave()
	if status, body := s.by("sk_new_0123456789", "POST", "/api/sessions/far-1/chat", chat("y", "hello")); status != 502 || !strings.HasPrefix(body, "The server of the agent ops could not be asked") {
		t.Errorf("%d %s", status, body)
	}
	s.stop()
	for _, text := range []string{records, session, s.errors.String()} {
		if strings.Contains(text, "sk_") {
			t.Errorf("a token is in %s", text)
		}
	}
}
