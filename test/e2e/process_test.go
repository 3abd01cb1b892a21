package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// binaryDir is where these tests build the gateway, unless TRIBUTARY_BINARY names one that is
// built; TestMain removes it.
func binaryDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("tributary-e2e-%d", os.Getpid()))
}

var build = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // one build for all tests
	if path := os.Getenv("TRIBUTARY_BINARY"); path != "" {
		return path, nil
	}
	dir := binaryDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tributary")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/tributary")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// process is a running gateway.
type process struct {
	*launch.Server

	t    *testing.T
	data string
}

// start starts a gateway on a data directory and waits until it is ready.
func start(t *testing.T, data string, env []string, args ...string) *process {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	serve := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, args...)
	if os.Getenv(testDB) != "" {
		serve = append(serve, "--db", database(t, data))
	}
	cmd := exec.Command(path, serve...)
	cmd.Env = env
	s, err := launch.Start(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return &process{Server: s, t: t, data: data}
}

// kill ends the gateway at once, and says when.
func (p *process) kill() (at time.Time) {
	at = time.Now()
	p.Kill()
	return at
}

// end asks the gateway to end, and waits.
func (p *process) end() {
	p.t.Helper()
	if err := p.End(); err != nil {
		p.t.Error(err)
	}
}

func (p *process) request(ctx context.Context, method, path string, body any) *http.Response {
	p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.Base()+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Token())
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", method, path, err, p.Said())
	}
	return res
}

// stream is what a client has seen of a turn.
type stream struct {
	text   string // of the text parts, in order
	grew   []growth
	types  []string
	chunks []map[string]any
	done   bool // [DONE] was seen
}

// growth is when the text of a stream was how long.
type growth struct {
	length int
	at     time.Time
}

// missing is how long before a moment the client had the first byte that is behind a
// length.
func (s *stream) missing(length int, before time.Time) time.Duration {
	for _, g := range s.grew {
		if g.length > length {
			return before.Sub(g.at)
		}
	}
	return 0
}

// prompt is what a stock client posts.
func prompt(id, text string) any {
	return map[string]any{
		"id": id, "trigger": "submit-message",
		"messages": []any{map[string]any{"id": fmt.Sprintf("u%d", time.Now().UnixNano()), "role": "user", "parts": []any{map[string]any{"type": "text", "text": text}}}},
	}
}

// chat sends a prompt and reads its stream until enough says so or it ends.
func (p *process) chat(id, text string, enough func(*stream) bool) *stream {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 60*time.Second)
	defer cancel()
	res := p.request(ctx, http.MethodPost, "/api/chat", prompt(id, text))
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		p.t.Fatalf("POST: %s: %s", res.Status, body)
	}
	return p.read(res.Body, enough)
}

func (p *process) read(body io.Reader, enough func(*stream) bool) *stream {
	p.t.Helper()
	s := &stream{}
	in := bufio.NewReader(body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return s
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case !ok:
			continue
		case data == "[DONE]":
			s.done = true
			continue
		}
		var chunk map[string]any
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			p.t.Fatalf("chunk %q: %v", data, err)
		}
		s.chunks = append(s.chunks, chunk)
		s.types = append(s.types, chunk["type"].(string))
		if chunk["type"] == "text-delta" {
			s.text += chunk["delta"].(string)
			s.grew = append(s.grew, growth{len(s.text), time.Now()})
		}
		if enough != nil && enough(s) {
			return s
		}
	}
}

// message is a UI message of the history.
type message struct {
	ID       string           `json:"id"`
	Role     string           `json:"role"`
	Parts    []map[string]any `json:"parts"`
	Metadata map[string]any   `json:"metadata"`
}

func (m message) text() string {
	var text string
	for _, p := range m.Parts {
		if p["type"] == "text" {
			text += p["text"].(string)
		}
	}
	return text
}

func (p *process) history(id string) []message {
	p.t.Helper()
	res := p.request(p.t.Context(), http.MethodGet, "/api/sessions/"+url.PathEscape(id)+"/messages", nil)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("history: %s %v: %s", res.Status, err, body)
	}
	var messages []message
	if err := json.Unmarshal(body, &messages); err != nil {
		p.t.Fatalf("history %s: %v", body, err)
	}
	return messages
}

// post sends a prompt, and returns what it was answered with, read to the end.
func (p *process) post(id, text string) (status int, body string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 60*time.Second)
	defer cancel()
	res := p.request(ctx, http.MethodPost, "/api/chat", prompt(id, text))
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Errorf("POST: the answer broke off: %v", err)
	}
	return res.StatusCode, string(all)
}
