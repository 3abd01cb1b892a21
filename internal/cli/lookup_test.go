package cli

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// The RFC's route finds a session of Agent Ops that the gateway does not know, with the
// service token, for the people whom Agent Ops names in it.
func TestB01_B07_TheServiceTokenFindsASession(t *testing.T) {
	t.Parallel()
	far := &farSide{}
	server := httptest.NewServer(far)
	t.Cleanup(server.Close)
	id := newIssuer(t)
	service := file(t, "service", "sk_service_0123456789")
	const head = "log_level: debug\nauth: {mode: jwt, jwt: {issuer: \"ISSUER\", audience: [tributary], default_role: collaborator}}\nagents: {ops: {adapter: agentops, url: \"URL\", token_file: \"FILE\", options: {connect_timeout: 2s"
	conf := strings.NewReplacer("ISSUER", id.URL, "URL", server.URL, "FILE", service).Replace(head)
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", conf+"}}}\n"))
	token := func(who string) string { return id.token(t, who, nil, time.Hour) }
	ask := func(who, method, path, body string, want int) {
		t.Helper()
		if status, text := s.by(token(who), method, path, body); status != want {
			t.Errorf("%s %s %s: %d %s, want %d", who, method, path, status, text, want)
		}
	}
	ask("u_eve", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 404)
	ask("u_service", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 404)
	ask("u_vic", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 404)
	ask("u_vic", "GET", "/api/sessions/far-1/messages", "", 200)
	ask("u_ada", "POST", "/api/sessions/far-2/chat", chat("x", "hello"), 404)
	ask("u_ada", "POST", "/api/sessions/far-1/chat", chat("x", "hello"), 200) // which fails for want of a socket
	ask("u_eve", "GET", "/api/sessions/far-1/messages", "", 404)
	ask("u_eve", "POST", "/api/chat?agent=ops", chat("far-1", "hello"), 404)
	if status, text := s.do("POST", "/api/sessions/far-3/chat", chat("x", "hello")); status != 404 {
		t.Errorf("the minted token: %d %s", status, text)
	}
	far.mu.Lock()
	asked := slices.Clone(far.asked)
	far.mu.Unlock()
	for _, one := range asked {
		if !strings.HasSuffix(one, " sk_service_0123456789") {
			t.Errorf("Agent Ops was asked by somebody else: %.80s", one)
		}
	}
	s.stop()
	if text := s.errors.String(); strings.Contains(text, "sk_service") {
		t.Errorf("the token is in the log:\n%s", text)
	}
	off := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", conf+", lookup: off}}}\n"))
	if status, text := off.by(token("u_ada"), "POST", "/api/sessions/far-1/chat", chat("x", "hello")); status != 404 {
		t.Errorf("without lookups: %d %s", status, text)
	}
}
