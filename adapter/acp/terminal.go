package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/internal/procio"
)

const (
	mostTerminals = 16      // at once
	mostOutput    = 1 << 20 // bytes of one terminal; an agent may ask for less
)

// terminals are the commands that the gateway runs for an agent. Each has a process
// group of its own, and none outlives the session.
type terminals struct {
	host agent.Host
	cfg  agent.Config
	env  []string
	work sync.WaitGroup

	mu     sync.Mutex
	last   int
	all    map[string]*terminal
	closed bool
}

// terminal is one command.
type terminal struct {
	*procio.Process
	most int
	over chan struct{} // closed when all of the output was read

	mu     sync.Mutex
	output string
	cut    bool
}

// exitStatus says how a command ended.
type exitStatus struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

func newTerminals(host agent.Host, cfg agent.Config, env []string) *terminals {
	return &terminals{host: host, cfg: cfg, env: env, all: map[string]*terminal{}}
}

// create answers terminal/create.
func (t *terminals) create(a action) (any, error) {
	dir, err := t.directory(a.Cwd)
	if err != nil {
		return nil, err
	}
	// One stream keeps the order of what the command prints.
	args := append([]string{"-c", `exec "$@" </dev/null 2>&1`, "sh", a.Command}, a.Args...)
	if len(a.Args) == 0 { // perhaps a whole line
		args = []string{"-c", "exec </dev/null 2>&1\n" + a.Command}
	}
	env := append([]string{}, t.env...)
	for _, v := range a.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	term := &terminal{most: mostOutput, over: make(chan struct{})}
	if a.Bytes != nil && *a.Bytes >= 0 {
		term.most = min(*a.Bytes, mostOutput)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, errors.New("the session is over")
	case len(t.all) >= mostTerminals:
		return nil, fmt.Errorf("there are %d terminals already: release one", mostTerminals)
	}
	term.Process, err = procio.Start(procio.Config{Path: "/bin/sh", Args: args, Dir: dir, Env: env, StateDir: t.cfg.StateDir, Box: t.cfg.Box})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.Command, err)
	}
	t.last++
	id := fmt.Sprintf("terminal-%d", t.last)
	t.all[id] = term
	t.work.Go(term.read)
	return object{"terminalId": id}, nil
}

// directory is where a command runs: a directory of the workspace.
func (t *terminals) directory(cwd string) (string, error) {
	if cwd == "" || filepath.Clean(cwd) == filepath.Clean(t.cfg.Cwd) {
		return t.cfg.Cwd, nil
	}
	files := t.host.Files()
	inside, err := files.Resolve(cwd)
	if err != nil {
		return "", fileError(cwd, err)
	}
	info, err := files.Stat(inside)
	if err != nil {
		return "", fileError(cwd, err)
	}
	if !info.IsDir() {
		return "", jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: cwd + " is not a directory"}
	}
	return filepath.Join(files.Path(), inside), nil
}

// read keeps the newest output until the command has ended.
func (t *terminal) read() {
	for text, err := t.ReadText(); err == nil; text, err = t.ReadText() {
		t.mu.Lock()
		t.output += text
		if extra := len(t.output) - t.most; extra > 0 {
			for extra < len(t.output) && !utf8.RuneStart(t.output[extra]) {
				extra++
			}
			t.output, t.cut = t.output[extra:], true
		}
		t.mu.Unlock()
	}
	t.ExitCode()
	_ = t.Close() // the group has ended
	close(t.over)
}

// status says how the command ended, or nil.
func (t *terminal) status() *exitStatus {
	select {
	case <-t.over:
	default:
		return nil
	}
	if code := t.ExitCode(); code >= 0 {
		return &exitStatus{Code: &code}
	}
	signal := strings.TrimPrefix(t.Why(), "signal: ")
	return &exitStatus{Signal: &signal}
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
		methodOutput: of(func(_ context.Context, _ string, term *terminal) (any, error) {
			term.mu.Lock()
			defer term.mu.Unlock()
			return struct {
				Output    string      `json:"output"`
				Truncated bool        `json:"truncated"`
				Exit      *exitStatus `json:"exitStatus,omitempty"`
			}{term.output, term.cut, term.status()}, nil
		}),
		"terminal/wait_for_exit": of(func(ctx context.Context, _ string, term *terminal) (any, error) {
			select {
			case <-term.over:
				return term.status(), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		"terminal/kill": of(func(_ context.Context, _ string, term *terminal) (any, error) {
			term.Kill()
			return object{}, nil
		}),
		"terminal/release": of(func(_ context.Context, id string, term *terminal) (any, error) {
			term.Kill()
			t.mu.Lock()
			delete(t.all, id)
			t.mu.Unlock()
			return object{}, nil
		}),
	}
}

// close ends all commands and waits for them.
func (t *terminals) close() {
	t.mu.Lock()
	t.closed = true
	for _, term := range t.all {
		term.Kill()
	}
	t.mu.Unlock()
	t.work.Wait()
}
