// Package launch runs a server as a process of its own, for tests and
// measurements that see it from outside. A server says that it is ready by
// printing its address as its first line.
package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long a server may take to be ready, and to end: far more than it does.
const (
	readyWithin = time.Minute
	endWithin   = 40 * time.Second
)

// Server is a server that runs.
type Server struct {
	Address *url.URL // what it printed
	Data    string   // its data directory, if its arguments name one
	PID     int

	cmd   *exec.Cmd
	stdin io.Closer // a simple server ends with it
	said  *tail
	done  chan struct{}
	// newToken is resetToken, which runs once.
	newToken func() string
}

// Start starts the command, whose standard streams are free, and waits until the
// server is ready. The context bounds the wait only.
func Start(ctx context.Context, cmd *exec.Cmd) (*Server, error) {
	s := &Server{Data: dataOf(cmd.Args), cmd: cmd, said: &tail{}, done: make(chan struct{})}
	s.newToken = sync.OnceValue(s.resetToken)
	cmd.Stderr = s.said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.stdin = stdin
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.PID = cmd.Process.Pid
	lines := make(chan string, 1)
	go func() { // ends with the process, for which End and Kill wait
		defer close(s.done)
		in := bufio.NewScanner(out)
		if in.Scan() {
			lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	late := time.NewTimer(readyWithin)
	defer late.Stop()
	select {
	case line := <-lines:
		if s.Address, err = url.Parse(line); err == nil {
			return s, nil
		}
		err = fmt.Errorf("%s printed %q, which is no address: %w", cmd.Path, line, err)
	case <-s.done:
		return nil, fmt.Errorf("%s ended at its start: %s", cmd.Path, s.Said())
	case <-late.C:
		err = fmt.Errorf("%s was not ready within %s: %s", cmd.Path, readyWithin, s.Said())
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Kill()
	return nil, err
}

// dataOf is the data directory that a command line names.
func dataOf(args []string) string {
	if i := slices.Index(args, "--data"); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// Base is the address without path and query.
func (s *Server) Base() string { return s.Address.Scheme + "://" + s.Address.Host }

// Token is the one that the address brings along, or else the one in the data directory. If
// that has the hash of the token only, Token makes a new one.
func (s *Server) Token() string {
	if token := s.Address.Query().Get("token"); token != "" || s.Data == "" {
		return token
	}
	text, err := os.ReadFile(filepath.Join(s.Data, "token"))
	if err != nil {
		return ""
	}
	if strings.HasPrefix(string(text), "sha256:") {
		return s.newToken()
	}
	return strings.TrimSpace(string(text))
}

// resetToken makes a new token in the place of the one of the server.
func (s *Server) resetToken() string {
	reset := exec.Command(s.cmd.Path, "token", "reset", "--data", s.Data) //nolint:noctx // it ends by itself
	reset.Env = s.cmd.Env
	out, err := reset.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Said are the last lines of what the server has said on its standard error.
func (s *Server) Said() string { return s.said.String() }

// Done is closed once the process is dead.
func (s *Server) Done() <-chan struct{} { return s.done }

// Kill ends the server without warning, as a power cut would, and waits for its
// death.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// End asks the server to end, and waits. That it had to be killed, or that it
// ended with another status than 0, is an error.
func (s *Server) End() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.stdin.Close()
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-s.done:
	case <-late.C:
		s.Kill()
		return fmt.Errorf("%s did not end within %s after SIGTERM: %s", s.cmd.Path, endWithin, s.Said())
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with status %d: %s", s.cmd.Path, code, s.Said())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 16 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - most; over > most { // moved now and then, not at every line
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
