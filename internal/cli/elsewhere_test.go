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
	conf := file(t, "tributary.yaml", "agents: {demo: {options: {pace: 100ms}}}\nauth: {tokens: [{name: ann, role: viewer, token_file: "+file(t, "ann", "a-token-of-ann-0123456789")+"}]}\n")
	first := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	second := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	turn := make(chan string, 2)
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
		{"POST", "/api/sessions/s/queue/continue", ""},
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
	// A prompt that the first one has held runs at the second one, once the first one has ended.
	go func() {
		_, stream := first.do("POST", "/api/chat", strings.ReplaceAll(chat("s", "slow"), "u-s", "u-2"))
		turn <- stream
	}()
	awaits := func(what string, there func() bool) {
		t.Helper()
		for until := time.Now().Add(patience); !there(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("in vain: %s", what)
			}
		}
	}
	has := func(s *server, path, words string) func() bool {
		return func() bool { _, body := s.do("GET", path, ""); return strings.Contains(body, words) }
	}
	awaits("the turn runs", has(first, "/api/sessions/s", `"state":"running"`))
	go func() {
		_, stream := first.do("POST", "/api/chat", strings.ReplaceAll(chat("s", "hello"), "u-s", "u-3"))
		turn <- stream
	}()
	awaits("a prompt waits", has(first, "/api/sessions/s/queue", "u-3"))
	if status, body := first.do("POST", "/api/chat/s/stop", ""); status != http.StatusOK {
		t.Errorf("the stop: %d %s", status, body)
	}
	for range 2 {
		<-turn
	}
	awaits("the second gateway shows it", has(second, "/api/sessions/s", `"held":1`))
	first.stop()
	awaits("the second gateway continues", func() bool {
		status, _ := second.do("POST", "/api/sessions/s/queue/continue", "")
		return status == http.StatusNoContent
	})
	awaits("it has run", has(second, "/api/sessions/s/messages", "I am the demo agent"))
}
