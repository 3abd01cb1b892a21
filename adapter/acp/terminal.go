package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/workspace"
)

const (
	mostTerminals = 16      // at once
	mostOutput    = 1 << 20 // bytes of one terminal; an agent may ask for less
)

// terminals are the commands that the gateway runs for an agent. Each has a process
// group of its own, and none outlives the session.
type terminals struct {
	host agent.Host
	cwd  string
	env  []string
	work sync.WaitGroup

	mu     sync.Mutex
	last   int
	all    map[string]*terminal
	closed bool
}

// terminal is one command.
type terminal struct {
	cmd    *exec.Cmd
	most   int
	exited chan struct{}
	status exitStatus // once it has exited

	mu     sync.Mutex
	reaped bool
	output []byte
	cut    bool
}

// exitStatus says how a command ended.
type exitStatus struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

func newTerminals(host agent.Host, cwd string, env []string) *terminals {
	return &terminals{host: host, cwd: cwd, env: env, all: map[string]*terminal{}}
}

// create answers terminal/create.
func (t *terminals) create(a action) (any, error) {
	dir, err := t.directory(a.Cwd)
	if err != nil {
		return nil, err
	}
	if len(a.Args) == 0 && strings.ContainsAny(a.Command, " \t\n|&;<>()$`") {
		a.Command, a.Args = "/bin/sh", []string{"-c", a.Command} // a whole line
	}
	term := &terminal{most: mostOutput, exited: make(chan struct{})}
	if a.Bytes != nil && *a.Bytes >= 0 {
		term.most = min(*a.Bytes, mostOutput)
	}
	cmd := exec.Command(a.Command, a.Args...) //nolint:gosec,noctx // a person or the policy has allowed it; kill ends the whole group
	cmd.Dir, cmd.Env = dir, append([]string{}, t.env...)
	for _, v := range a.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Stdout, cmd.Stderr = term, term
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	term.cmd = cmd
	return t.start(term)
}

func (t *terminals) start(term *terminal) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, errors.New("the session is over")
	case len(t.all) >= mostTerminals:
		return nil, fmt.Errorf("there are %d terminals already: release one", mostTerminals)
	}
	if err := term.cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", term.cmd.Path, err)
	}
	t.last++
	id := fmt.Sprintf("terminal-%d", t.last)
	t.all[id] = term
	t.work.Go(term.wait)
	return map[string]string{"terminalId": id}, nil
}

// directory is where a command runs: a directory of the workspace.
func (t *terminals) directory(cwd string) (string, error) {
	if cwd == "" || filepath.Clean(cwd) == filepath.Clean(t.cwd) {
		return t.cwd, nil
	}
	files := t.host.Files()
	info, err := files.Stat(cwd)
	switch {
	case err != nil:
		return "", fileError(cwd, err)
	case !info.IsDir():
		return "", jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: cwd + " is not a directory"}
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(t.cwd, cwd)
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil || !files.Contains(real) {
		return "", fileError(cwd, workspace.ErrOutside)
	}
	return real, nil
}

// Write implements io.Writer. The newest output is kept.
func (t *terminal) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, data...)
	if extra := len(t.output) - t.most; extra > 0 {
		for extra < len(t.output) && !utf8.RuneStart(t.output[extra]) {
			extra++
		}
		t.output, t.cut = append(t.output[:0], t.output[extra:]...), true
	}
	return len(data), nil
}

func (t *terminal) wait() {
	_ = t.cmd.Wait() // the state says how it ended
	t.kill()         // what the command has left behind
	t.mu.Lock()
	t.reaped = true
	t.mu.Unlock()
	if state := t.cmd.ProcessState; state != nil {
		if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			name := ws.Signal().String()
			t.status.Signal = &name
		} else {
			code := state.ExitCode()
			t.status.Code = &code
		}
	}
	close(t.exited)
}

// kill ends the command and all that it has started.
func (t *terminal) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.reaped {
		_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// handlers answer the requests about a terminal that runs.
func (t *terminals) handlers() map[string]jsonrpc.Handler {
	of := func(do func(context.Context, string, *terminal) (any, error)) jsonrpc.Handler {
		return func(ctx context.Context, params json.RawMessage) (any, error) {
			id := parse[ids](params).Terminal
			t.mu.Lock()
			term := t.all[id]
			t.mu.Unlock()
			if term == nil {
				return nil, jsonrpc.Error{Code: codeMissing, Message: fmt.Sprintf("Resource not found: there is no terminal %q", id)}
			}
			return do(ctx, id, term)
		}
	}
	return map[string]jsonrpc.Handler{
		methodOutput: of(func(_ context.Context, _ string, term *terminal) (any, error) { return term.look(), nil }),
		"terminal/wait_for_exit": of(func(ctx context.Context, _ string, term *terminal) (any, error) {
			select {
			case <-term.exited:
				return term.status, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		"terminal/kill": of(func(_ context.Context, _ string, term *terminal) (any, error) {
			term.kill()
			return struct{}{}, nil
		}),
		"terminal/release": of(func(_ context.Context, id string, term *terminal) (any, error) {
			term.kill()
			t.mu.Lock()
			delete(t.all, id)
			t.mu.Unlock()
			return struct{}{}, nil
		}),
	}
}

// look is what the terminal shows.
func (t *terminal) look() any {
	r := struct {
		Output    string      `json:"output"`
		Truncated bool        `json:"truncated"`
		Exit      *exitStatus `json:"exitStatus,omitempty"`
	}{}
	select {
	case <-t.exited:
		r.Exit = &t.status
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Output, r.Truncated = strings.ToValidUTF8(string(t.output), "\uFFFD"), t.cut
	return r
}

// close ends all commands and waits for them.
func (t *terminals) close() {
	t.mu.Lock()
	t.closed = true
	for _, term := range t.all {
		term.kill()
	}
	t.mu.Unlock()
	t.work.Wait()
}
