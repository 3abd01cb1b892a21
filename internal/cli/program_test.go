package cli

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
	"github.com/tributary-dev/tributary/policy/box"
)

var postgres pgtest.Server

var update = flag.Bool("update", false, "write the golden files anew")

// asProgram, in the environment, makes the test binary the program itself.
const asProgram = "TRIBUTARY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	box.Enter()
	if os.Getenv(asProgram) != "" {
		Main()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		postgres.Stop()
		os.Exit(code)
	}))
}

// patience is far more than anything here takes.
const patience = 30 * time.Second

// output is a writer that may be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// result is how a command line ended.
type result struct {
	status      int
	out, errors string
}

// command runs a command line to its end.
func command(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errs output
	p := &program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}
	status := p.main(t.Context(), args)
	return result{status, out.String(), errs.String()}
}

func (r result) want(t *testing.T, status int, inErrors string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.errors, inErrors) || inErrors == "" && r.errors != "" {
		t.Errorf("exit status %d, want %d; standard error, which should hold %q:\n%s", r.status, status, inErrors, r.errors)
	}
}

// server is a gateway that runs within the test.
type server struct {
	t       *testing.T
	signals chan os.Signal
	errors  *output
	ended   chan int
	url     string
	base    string
	token   string
}

// startServer starts a gateway on a free port and waits for its ready line.
func startServer(t *testing.T, data string, args ...string) *server {
	t.Helper()
	s := startServerAsIs(t, data, args...)
	s.token = adminToken(t, data)
	return s
}

// startServerAsIs starts a gateway whose token the test knows.
func startServerAsIs(t *testing.T, data string, args ...string) *server {
	t.Helper()
	in, out := io.Pipe()
	s := &server{t: t, signals: make(chan os.Signal, 2), errors: &output{}, ended: make(chan int, 1)}
	p := &program{stdin: strings.NewReader(""), stdout: out, stderr: s.errors, signals: s.signals}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--cwd", t.TempDir()}, args...)
	go func() {
		s.ended <- p.main(t.Context(), args)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		t.Fatalf("no ready line; exit status %d:\n%s", <-s.ended, s.errors)
	}
	s.url = lines.Text()
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatalf("ready line %q: %v", s.url, err)
	}
	s.base = "http://" + u.Host
	rest := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(in)
		rest <- string(all)
	}()
	t.Cleanup(func() {
		s.stop()
		// The scanner may have read on; what it holds counts too.
		if more := lines.Scan(); more {
			t.Errorf("more than one line on standard output: %q", lines.Text())
		}
		if more := <-rest; more != "" {
			t.Errorf("more than one line on standard output: %q", more)
		}
	})
	return s
}

// adminToken is the token of the first start, or a new one if only its hash is kept.
func adminToken(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(data, tokenFile)
	token, err := access.ReadTokenFile(path)
	if errors.Is(err, access.ErrHashed) {
		token, err = access.ResetTokenFile(path, true)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return token
}

// stop ends the gateway in order and returns its exit status.
func (s *server) stop() int {
	s.t.Helper()
	select {
	case s.signals <- syscall.SIGTERM:
	default:
	}
	return s.wait()
}

func (s *server) wait() int {
	s.t.Helper()
	select {
	case status := <-s.ended:
		s.ended <- status
		return status
	case <-time.After(patience):
		s.t.Fatalf("the gateway does not end:\n%s", s.errors)
		return -1
	}
}

// request makes a request with the token; the caller closes the body.
func (s *server) request(method, path, body string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.errors)
	}
	return res
}

func (s *server) do(method, path, body string) (status int, text string) {
	s.t.Helper()
	res := s.request(method, path, body)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode, string(all)
}

func chat(session, text string) string {
	return fmt.Sprintf(`{"id":%q,"trigger":"submit-message","messages":[{"id":"u-%s","role":"user","parts":[{"type":"text","text":%q}]}]}`, session, session, text)
}

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("differs from %s (-want +got):\n%s", path, d)
	}
}

// file writes a file of the test's own and returns its name.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	syscall.ForkLock.RLock() // a process that starts meanwhile would inherit the open file, and the file could not run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
