package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/procio"
)

// process is a running Claude Code.
type process struct {
	*procio.Process
	answered chan controlResponse // to initialize, at most one
	done     chan struct{}        // everything it said was read
}

func (p *process) over() { close(p.done) }

// ended reports whether the process has ended; then all it said was read.
func (p *process) ended() bool {
	select {
	case <-p.Exited():
		<-p.done
		return true
	default:
		return false
	}
}

// start starts the process and waits until it is ready.
func (s *session) start(ctx context.Context, resume string) error {
	proc, err := s.launch(resume) //nolint:contextcheck // the process outlives the prompt that starts it: Close ends it
	if err != nil {
		return err
	}
	err = s.greet(ctx, proc)
	if err == nil {
		return nil
	}
	proc.Kill() // nothing was said yet that could be lost
	_ = proc.Close()
	<-proc.done
	if resume == "" || !s.forgotten(proc) || s.life.Err() != nil {
		return err
	}
	s.cfg.Logger.Warn("claude: it does not know its session any more", "session", s.cfg.SessionID, "resume", resume)
	if err := s.start(ctx, ""); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	return nil
}

// launch starts the process and its reader.
func (s *session) launch(resume string) (*process, error) {
	if info, err := os.Stat(s.cfg.Cwd); s.cfg.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("claude: the workspace %s is not a directory", s.cfg.Cwd)
	}
	p, err := procio.Start(procio.Config{
		Path: s.rt.command(), Args: s.rt.args(s.cfg, resume), Dir: s.cfg.Cwd, Env: s.rt.environ(), StateDir: s.cfg.StateDir,
	})
	switch {
	case procio.NotFound(err):
		return nil, s.rt.notFound()
	case err != nil:
		return nil, fmt.Errorf("claude: %s cannot be started: %w", s.rt.command(), err)
	}
	proc := &process{Process: p, answered: make(chan controlResponse, 1), done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut { // closed meanwhile: nobody would end it
		p.Kill()
		_ = p.Close()
		return nil, errClosed
	}
	s.proc = proc
	s.dec = NewDecoder(Options{Tools: s.rt.Tools})
	s.dec.starting = true
	s.goes.Go(func() { s.read(proc) })
	return proc, nil
}

// greet says hello and waits for the answer.
func (s *session) greet(ctx context.Context, proc *process) error {
	ctx, cancel := context.WithTimeout(ctx, s.rt.startTime())
	defer cancel()
	hello := encode(map[string]any{"type": "control_request", "request_id": helloID, "request": raw(`{"subtype":"initialize"}`)})
	writeErr := proc.WriteLine(ctx, hello)
	if writeErr == nil {
		select {
		case r := <-proc.answered:
			if r.Subtype == "error" {
				return fmt.Errorf("claude: it refuses to start: %s", plainText(orNull(r.Error)))
			}
			s.mu.Lock()
			s.dec.starting = false
			s.mu.Unlock()
			return nil
		case <-proc.done:
		case <-ctx.Done():
		case <-s.life.Done():
			return errClosed
		}
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("claude: it did not answer within %s after its start: run `%s -p hello` in the workspace to see why", s.rt.startTime().Round(time.Millisecond), s.rt.command())
		}
		return fmt.Errorf("claude: its start was given up: %w", context.Cause(ctx))
	}
	return fmt.Errorf("claude: it ended before it was ready: %s%s", proc.Why(), advice(proc.Stderr()))
}

// helloID is the id of the initialize request.
const helloID = "gateway-hello"

// forgotten reports whether the process ended because it does not know the
// session that it was to resume.
func (s *session) forgotten(proc *process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	const sign = "No conversation found"
	return strings.Contains(proc.Stderr(), sign) || strings.Contains(s.dec.startError, sign)
}

// advice is what to do about an error, if that is known.
func advice(text string) string {
	lower := strings.ToLower(text)
	for _, sign := range []string{"/login", "not logged in", "invalid api key", "authentication_error"} {
		if strings.Contains(lower, sign) {
			return " — log in by running `claude` once in a terminal, or set ANTHROPIC_API_KEY"
		}
	}
	return ""
}
