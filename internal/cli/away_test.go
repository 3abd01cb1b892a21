package cli

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

// While the database is away, reads are refused at once, the running turn ends with a sentence after a minute, and the
// log says so once a minute.
func TestWhileTheDatabaseIsAwayEverybodyHearsOfIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a minute")
	}
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	conf := file(t, "tributary.yaml", "agents: {demo: {options: {pace: 100ms}}}")
	s := startServer(t, t.TempDir(), "--db", server.Database(t), "--config", conf)
	s.do("POST", "/api/chat", chat("known", "hello"))
	res := s.request("POST", "/api/chat", chat("s", "slow"))
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	await(t, stream, "text-delta")
	server.Kill()
	began := time.Now()
	rest, err := io.ReadAll(stream)
	if took := time.Since(began); err != nil || took < 50*time.Second || took > 80*time.Second || !strings.Contains(string(rest), "The gateway could not write its log, so the turn was ended.") {
		t.Errorf("the stream ended after %s with %v: %s", took, err, rest[max(0, len(rest)-400):])
	}
	asked := time.Now()
	for _, path := range []string{"/api/sessions/known/messages", "/api/sessions/known/export", "/api/sessions/known/trace", "/api/sessions"} {
		res := s.request("GET", path, "")
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !strings.Contains(string(text), `"log_unavailable"`) {
			t.Errorf("%s: %s %s", path, res.Status, text)
		}
	}
	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("the refusals took %s", took)
	}
	server.Start(t)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if status, _ := s.do("GET", "/readyz", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the gateway does not get ready again")
		}
	}
	if status, stream := s.do("POST", "/api/chat", chat("s", "again")); status != http.StatusOK || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("afterwards: %d %s", status, stream)
	}
	s.stop()
	if n := strings.Count(s.errors.String(), "the database is away"); n < 1 || n > 2 || !strings.Contains(s.errors.String(), "the database is back") {
		t.Errorf("%d lines say that the database is away:\n%s", n, s.errors)
	}
}

// A gateway whose database lacks what it has confirmed ends with a sentence, with a turn that runs. Its next start goes on with what is there.
//
//evidence:for promise-crash
func TestAGatewayEndsWhoseDatabaseLacksCommits(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	args := []string{"--db", server.Database(t), "--config", file(t, "tributary.yaml", "agents: {demo: {options: {pace: 100ms}}}")}
	data := t.TempDir()
	s := startServer(t, data, args...)
	s.do("POST", "/api/chat", chat("s", "hello"))
	if err := server.Save(); err != nil {
		t.Fatal(err)
	}
	s.do("POST", "/api/chat", chat("s", "hello again"))
	res := s.request("POST", "/api/chat", chat("runs", "slow"))
	defer res.Body.Close()
	await(t, bufio.NewReader(res.Body), "text-delta")
	if err := server.Restore(); err != nil {
		t.Fatal(err)
	}
	if status := s.wait(); status != exitFailed || !strings.Contains(s.errors.String(), "the database lacks what this gateway has written") {
		t.Fatalf("exit status %d\n%s", status, s.errors)
	}
	s = startServer(t, data, args...)
	if _, history := s.do("GET", "/api/sessions/s/messages", ""); !strings.Contains(history, "hello") || strings.Contains(history, "again") {
		t.Errorf("the history is not what the database has: %s", history)
	}
	if status, stream := s.do("POST", "/api/chat", chat("s", "go on")); status != http.StatusOK || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("the session does not go on: %d %s", status, stream)
	}
	if _, trace := s.do("GET", "/api/sessions/s/trace", ""); !strings.Contains(trace, "go on") || strings.Contains(trace, "damaged") {
		t.Errorf("the trace: %s", trace)
	}
}

// Of two gateways whose data directories are copies, the first ends when the second begins, and is not started again by systemd.
func TestAGatewayEndsWhoseDataDirectoryIsACopy(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	url, data, other := server.Database(t), t.TempDir(), filepath.Join(t.TempDir(), "copy")
	first := startServer(t, data, "--db", url)
	if err := os.CopyFS(other, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	second := startServer(t, other, "--db", url)
	if status := first.wait(); status != exitUsage || !strings.Contains(first.errors.String(), "another gateway with the name of this one runs on the database") {
		t.Errorf("exit status %d\n%s", status, first.errors)
	}
	if status, stream := second.do("POST", "/api/chat", chat("s", "hello")); status != http.StatusOK || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("the second one: %d %s", status, stream)
	}
}
