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
func (s *session) start(ctx context.Context, at place) error {
	proc, err := s.launch(at) //nolint:contextcheck // the process outlives the prompt that starts it: Close ends it
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
	next, notice, ok := at.elsewhere(s.lastWords(proc))
	if !ok || s.life.Err() != nil {
		return err
	}
	s.cfg.Logger.Warn("claude: it does not find its place any more", "place", at.token(), "next", next.token())
	if err := s.start(ctx, next); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notice.Code == "" { // else it did not find that one either, and has said so
		s.notice = notice
	}
	return nil
}

// launch starts the process and its reader.
func (s *session) launch(at place) (*process, error) {
	if info, err := os.Stat(s.cfg.Cwd); s.cfg.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("claude: the workspace %s is not a directory", s.cfg.Cwd)
	}
	p, err := procio.Start(procio.Config{
		Path: s.rt.command(), Args: s.rt.args(s.cfg, at), Dir: s.cfg.Cwd, Env: s.rt.environ(), StateDir: s.cfg.StateDir,
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
	s.dec.starting, s.dec.at = true, at
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

// lastWords is what the process said before it ended, without having been ready.
func (s *session) lastWords(proc *process) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return proc.Stderr() + "\n" + s.dec.startError
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
