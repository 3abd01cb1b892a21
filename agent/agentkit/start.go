package agentkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/procio"
)

// process is a running agent.
type process struct {
	*procio.Process
	protocol Protocol
	lines    *firstLines
	starting context.Context //nolint:containedctx // ends when the program is another one, and after the start
	started  func()          // lets the next process start (Spec.OneStart)
	remove   func()          // the files of its environment
	done     chan struct{}   // closed when all that the process said was read
	hold     hold
	unread   atomic.Bool // it was ended because it read no answers
}

// over ends what waits for the process.
func (p *process) over() {
	if c, ok := p.protocol.(io.Closer); ok {
		_ = c.Close()
	}
	p.remove()
	p.started()
	close(p.done)
}

// ended reports whether the process has ended; then all its lines were read.
func (p *process) ended() bool {
	select {
	case <-p.Exited():
		<-p.done
		return true
	default:
		return false
	}
}

// running returns the process, and starts it again if it has died.
func (s *processSession) running(ctx context.Context) (*process, error) {
	if p := s.process(); p != nil && !p.ended() {
		return p, nil
	}
	if err := s.start(ctx, s.Token()); err != nil {
		return nil, err
	}
	return s.process(), nil
}

// start starts the process and waits until it is ready. A process that does not find
// its conversation is started again where the Relocator says.
func (s *processSession) start(ctx context.Context, resume string) error {
	started, err := s.spec.awaitStart(ctx)
	if err != nil {
		return err
	}
	p, err := s.launch(resume, started) //nolint:contextcheck // the process outlives the prompt that starts it: Close ends it
	if err != nil {
		started()
		return err
	}
	err = s.greet(ctx, p, resume)
	if err == nil {
		return nil
	}
	p.Kill() // the agent has said nothing yet that could be lost
	_ = p.Close()
	<-p.done
	r, ok := p.protocol.(Relocator)
	if !ok || s.life.Err() != nil || ctx.Err() != nil {
		return err
	}
	next, notice, ok := r.Relocate(resume, p.Stderr())
	if !ok || next == resume {
		return err
	}
	s.cfg.Logger.Warn(s.spec.Adapter+": it does not find its place any more", "place", resume, "next", next)
	s.mu.Lock()
	if len(s.notices) == 0 { // else the user learns of the first loss, which is the larger one
		s.notices = append(s.notices, notice)
	}
	s.mu.Unlock()
	return s.start(ctx, next)
}

// oneStartWithin is how long a process that prints nothing keeps the others from starting.
const oneStartWithin = 5 * time.Second

// awaitStart waits until no other process of OneStart starts. The function lets the next one start.
func (s Spec) awaitStart(ctx context.Context) (started func(), err error) {
	if s.OneStart == nil {
		return func() {}, nil
	}
	select {
	case s.OneStart <- struct{}{}:
		started = sync.OnceFunc(func() { <-s.OneStart })
		time.AfterFunc(oneStartWithin, started)
		return started, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: its start was given up: %w", s.Adapter, context.Cause(ctx))
	}
}

// launch starts the process and its reader. The process calls started.
func (s *processSession) launch(resume string, started func()) (*process, error) {
	if info, err := os.Stat(s.cfg.Cwd); s.cfg.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("%s: the workspace %s is not a directory", s.spec.Adapter, s.cfg.Cwd)
	}
	s.state.Lock()
	defer s.state.Unlock()
	if s.shut {
		return nil, ErrClosed
	}
	env, read, remove, err := s.spec.writeFiles()
	if err != nil {
		return nil, err
	}
	rule := s.cfg.Box
	rule.Read = slices.Concat(rule.Read, read)
	running, err := procio.Start(procio.Config{
		Path: s.spec.Command, Args: s.spec.Args(resume), Dir: s.cfg.Cwd, Env: env, StateDir: s.cfg.StateDir, Box: rule,
	})
	if err != nil {
		remove()
		return nil, Unstarted(s.spec.Adapter, s.spec.Command, s.spec.NotFound, err)
	}
	p := &process{Process: running, started: started, remove: remove, lines: &firstLines{marks: s.spec.Marks, give: min(s.spec.StartTime/6, 5*time.Second)}, done: make(chan struct{})}
	p.starting, p.lines.refuse = context.WithCancelCause(s.life)
	p.protocol = s.spec.New(Conn{s: s, p: p}, resume)
	s.proc = p
	s.Restart()
	s.mu.Lock()
	s.decoder, s.ready = p.protocol, false
	s.mu.Unlock()
	s.Go(func(context.Context) { s.read(p) }) //nolint:contextcheck // the reader ends with the process
	return p, nil
}

// greet waits until the protocol says that the process is ready.
func (s *processSession) greet(ctx context.Context, p *process, resume string) error {
	ctx, cancel := context.WithTimeout(ctx, s.spec.StartTime)
	defer cancel()
	unhook := context.AfterFunc(p.starting, cancel) //nolint:contextcheck // Close ends a start, too
	err := p.protocol.Greet(ctx, resume)
	unhook() // the end of the search is no end of the start
	p.lines.stop()
	strange, other := errors.AsType[strangeError](context.Cause(p.starting)) //nolint:contextcheck // it is that of the process
	p.lines.refuse(nil)
	if err == nil {
		s.mu.Lock()
		s.ready = true
		s.mu.Unlock()
		return nil
	}
	var timeout bool
	if cause := context.Cause(ctx); cause != nil {
		timeout = errors.Is(cause, context.DeadlineExceeded)
	}
	gone := false
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) { // the end of a process shows in a write first
		select {
		case <-p.Exited():
		case <-time.After(time.Second):
		}
	}
	select {
	case <-p.Exited():
		gone = true
	case <-p.done:
		gone = true
	default:
	}
	switch {
	case s.life.Err() != nil:
		return ErrClosed
	case other:
		return fmt.Errorf("%s: `%s` is another program, or runs with other arguments: %w: correct command and args", s.spec.Adapter, s.spec.Command, strange)
	case gone:
		<-p.done
		advice := cmp.Or(s.advice(p.Stderr()), ": run `"+s.spec.Command+"` in the workspace to see why, or correct command and args")
		return fmt.Errorf("%s: it ended before it was ready: %s%s", s.spec.Adapter, p.Why(), advice)
	case timeout:
		return fmt.Errorf("%s: it did not answer within %s after its start: run `%s` in the workspace to see why",
			s.spec.Adapter, s.spec.StartTime.Round(time.Millisecond), s.spec.Command)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: its start was given up: %w", s.spec.Adapter, context.Cause(ctx))
	}
	return err
}

// ErrEnded is what Greet may return when Conn.Done is closed; the session says why.
var ErrEnded = errors.New("the process has ended")

// Await waits for a value, the end of the process, or the end of ctx. Most greetings
// use it.
func Await[T any](ctx context.Context, c Conn, from <-chan T) (T, error) {
	var none T
	select {
	case v := <-from:
		return v, nil
	case <-c.Done():
		return none, ErrEnded
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
