package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// Two gateways work on one database, and the second gets requests for a session of the first.
func TestASessionOfAnotherGatewayIsReadAndNotWritten(t *testing.T) {
	t.Parallel()
	db := postgres.Database(t)
	conf := file(t, "tributary.yaml", "agents: {demo: {options: {pace: 100ms}}}")
	first := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	second := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	turn := make(chan string, 1)
	go func() {
		_, stream := first.do("POST", "/api/chat", chat("s", "slow"))
		turn <- stream
	}()
	deadline := time.Now().Add(patience)
	for {
		if _, body := second.do("GET", "/api/sessions", ""); strings.Contains(body, `"state":"running"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the second gateway does not list the session")
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/api/chat", chat("s", "hello")},
		{"POST", "/api/chat/s/stop", ""},
		{"PATCH", "/api/sessions/s", `{"title":"new"}`},
		{"PUT", "/api/sessions/s/members/ann", `{"role":"viewer"}`},
		{"DELETE", "/api/sessions/s", ""},
	} {
		if status, body := second.do(r.method, r.path, r.body); status != http.StatusServiceUnavailable || !strings.Contains(body, "nother gateway on the same database has this session") {
			t.Errorf("%s %s: %d %s", r.method, r.path, status, body)
		}
	}
	for _, path := range []string{"/api/sessions/s", "/api/sessions/s/messages", "/api/sessions/s/trace"} {
		if status, body := second.do("GET", path, ""); status != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
	if status, body := first.do("POST", "/api/chat/s/stop", ""); status != http.StatusOK || !strings.Contains(body, `"stopped":true`) {
		t.Errorf("the stop: %d %s", status, body)
	}
	if stream := <-turn; !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("the turn ends with %q", stream)
	}
}
