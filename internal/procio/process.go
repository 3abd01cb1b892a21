package procio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/policy/box"
)

// Config says what to run.
type Config struct {
	// Path is the program, as exec.LookPath takes it.
	Path string
	Args []string
	Dir  string
	// Env is the whole environment. Nothing of the gateway's own is inherited: nil is an empty one.
	Env []string
	// StateDir is where the running process is noted, or "".
	StateDir string
	// Box closes files to the process and to all that it starts.
	Box box.Rule
	// MaxLine bounds a line of output in bytes; 64 MB if zero.
	MaxLine int
	// Grace is how long Close waits after each of its steps; 2 s if zero.
	Grace time.Duration
}

// Process is a running process. ReadLine is for one goroutine, all else for any.
type Process struct {
	cfg    Config
	cmd    *exec.Cmd
	inside *box.Inside
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	lines  *bufio.Reader
	tail   tail
	note   string

	write  sync.Mutex // one line at a time
	broken bool       // a line was written in part

	reap   sync.Mutex // no signal is sent to a group that was reaped
	reaped bool
	exited chan struct{}
	copied chan struct{} // all of stderr was read

	closing  sync.Once
	closeErr error
}

// Start starts a process. On Linux the process also ends when the gateway is killed.
func Start(cfg Config) (*Process, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	if cfg.MaxLine == 0 {
		cfg.MaxLine = 64 << 20
	}
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
	}
	p := &Process{cfg: cfg, exited: make(chan struct{}), copied: make(chan struct{})}
	p.cmd = exec.Command(cfg.Path, cfg.Args...) //nolint:noctx // Close ends it and its whole group, a context would kill only the leader
	p.cmd.Dir, p.cmd.Env = cfg.Dir, whole(cfg.Env)
	p.cmd.SysProcAttr = ownGroup()
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err == nil {
		started := make(chan error, 1)
		go p.run(started)
		err = <-started
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, err
	}
	p.lines = bufio.NewReaderSize(draining{p.stdout}, 64<<10)
	go func() {
		defer close(p.copied)
		p.tail.copy(draining{p.stderr})
	}()
	return p, nil
}

// whole is an environment as package exec takes it, which inherits the gateway's own for nil.
func whole(env []string) []string { return append([]string{}, env...) }

// run starts the process and waits for its end, on one thread: the kernel kills the process when
// the thread ends that started it, so that thread may not end before. Waiting needs a thread anyway.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	if p.inside, err = p.cfg.Box.Start(p.cmd); err == nil {
		p.note = leaveNote(p.cfg.StateDir, p.cmd.Process.Pid, p.cfg.Path)
	}
	started <- err
	if err == nil {
		p.wait()
	}
}

// pipes connects the three streams and returns the child's ends. Pipes of package exec would
// be closed with unread output in them.
func (p *Process) pipes() (theirs []*os.File, err error) {
	var ends [3][2]*os.File
	for i := range ends {
		if ends[i][0], ends[i][1], err = os.Pipe(); err != nil {
			break
		}
	}
	p.stdin, p.stdout, p.stderr = ends[0][1], ends[1][0], ends[2][0]
	theirs = []*os.File{ends[0][0], ends[1][1], ends[2][1]}
	if err != nil {
		return theirs, fmt.Errorf("make a pipe: %w", err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait waits for the leader, ends the rest of the group, and reaps the leader.
func (p *Process) wait() {
	defer close(p.exited)
	if !awaitExit(p.cmd.Process.Pid) {
		_ = p.cmd.Wait()
	}
	p.reap.Lock()
	_ = signalGroup(p.cmd.Process.Pid, syscall.SIGKILL)
	_ = p.cmd.Wait() // its state is in ProcessState
	p.reaped = true
	p.reap.Unlock()
	p.inside.Close()
	// A process that has left the group may hold the pipes for ever. The deadline lets
	// readers read the rest of the pipes, and not wait for more.
	_ = p.stdout.SetReadDeadline(time.Now())
	_ = p.stderr.SetReadDeadline(time.Now())
	eraseNote(p.note)
}

// signal sends a signal to the group.
func (p *Process) signal(s syscall.Signal) {
	p.reap.Lock()
	defer p.reap.Unlock()
	if !p.reaped {
		_ = signalGroup(p.cmd.Process.Pid, s)
	}
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Pid is the process id, which is also that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Dial connects to a TCP server of the process on the loopback device, which may be one of its own.
func (p *Process) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return p.inside.Dial(ctx, network, address)
}

// Why says in half a sentence how the process ended, with the last line of standard error.
// Why waits for the end only as long as Close would.
func (p *Process) Why() string {
	if !p.within(p.cfg.Grace) {
		return "it still runs"
	}
	select {
	case <-p.copied:
	case <-time.After(p.cfg.Grace):
	}
	how := p.cmd.ProcessState.String()
	if last := p.tail.last(); last != "" {
		how += ": " + last
	}
	return how
}

// Stderr returns the end of what the process wrote to standard error.
func (p *Process) Stderr() string { return p.tail.String() }

// lastWords is how long Close waits for the end of standard error. A process of another
// group may hold standard error open.
const lastWords = 100 * time.Millisecond

// Close ends the process: end of input, then SIGTERM to the group, then SIGKILL,
// each followed by a bounded wait. Close is idempotent.
func (p *Process) Close() error {
	p.closing.Do(func() {
		_ = p.stdin.Close() // unblocks a writer
		p.closeErr = p.end()
		_ = p.stdout.Close()
		select {
		case <-p.copied: // what the process said last is for Why
		case <-time.After(lastWords):
		}
		_ = p.stderr.Close()
		<-p.copied
	})
	return p.closeErr
}

func (p *Process) end() error {
	if p.within(p.cfg.Grace) {
		return nil
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p.signal(s)
		if p.within(p.cfg.Grace) {
			return nil
		}
	}
	return fmt.Errorf("process %d (%s) did not end, not even when it was killed", p.Pid(), p.cfg.Path)
}

// Terminate asks the group to end; Close is still needed.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// Kill ends the group at once; Close is still needed.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

func (p *Process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	}
}

// ErrUnsupported says that this system cannot run agents that are programs.
var ErrUnsupported = errors.New("agents that are programs need Linux or macOS: on Windows run Tributary inside WSL, or use agents that need no program here")

// NotFound reports whether Start failed because there is no such program.
func NotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}

// lastLine is the last line of a text that says anything.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
