//go:build linux

package procio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/internal/procio"
)

func TestMain(m *testing.M) {
	if os.Getenv(asGateway) != "" {
		beGateway()
	}
	goleak.VerifyTestMain(m)
}

// start runs a shell script and closes it with the test.
func start(t *testing.T, cfg procio.Config, script string) *procio.Process {
	t.Helper()
	cfg.Path, cfg.Args = "sh", []string{"-c", script}
	p, err := procio.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// readAll reads lines up to an error that is not a long line.
func readAll(p *procio.Process) (lines []string, err error) {
	for {
		line, err := p.ReadLine()
		var long procio.LineTooLongError
		switch {
		case errors.As(err, &long):
			lines = append(lines, "(too long)")
			continue
		case err != nil:
			if len(line) > 0 {
				lines = append(lines, string(line))
			}
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ")
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 200 {
		if !alive(pid) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

func TestLines(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `while read -r l; do echo "got $l"; done; printf 'a\r\n\nhalf'`)
	for _, in := range []string{"one", "two  words"} {
		if err := p.WriteLine(t.Context(), []byte(in)); err != nil {
			t.Fatal(err)
		}
		if line, err := p.ReadLine(); err != nil || string(line) != "got "+in {
			t.Errorf("read %q, %v", line, err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- p.Close() }()
	lines, _ := readAll(p)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(lines) > 3 || len(lines) > 0 && lines[0] != "a" {
		t.Errorf("after the end of input: %q", lines)
	}
}

func TestLastOutputIsRead(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `printf 'whole\r\nhalf'`)
	<-p.Exited()
	lines, err := readAll(p)
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Join(lines, "|") != "whole|half" {
		t.Errorf("read %q, %v", lines, err)
	}
	if _, err := p.ReadLine(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

//evidence:for limit-line
func TestLongLines(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{MaxLine: 700_000}, `head -c 600000 /dev/zero | tr '\0' x; echo; head -c 800000 /dev/zero | tr '\0' y; echo; echo after`)
	lines, err := readAll(p)
	if !errors.Is(err, io.EOF) || len(lines) != 3 || len(lines[0]) != 600_000 || lines[1] != "(too long)" || lines[2] != "after" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestStderrTail(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `i=0; while [ $i -lt 3000 ]; do echo "noise $i" >&2; i=$((i+1)); done; echo "the reason" >&2; exit 3`)
	if why := p.Why(); why != "exit status 3: the reason" {
		t.Errorf("Why is %q", why)
	}
	if n := len(p.Stderr()); n < 7<<10 || n > 8<<10 {
		t.Errorf("%d bytes of standard error are kept", n)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"no-such-program-here", "/no/such/program"} {
		if _, err := procio.Start(procio.Config{Path: path}); !procio.NotFound(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCloseEndsTheGroup closes a shell that ignores end of input and SIGTERM and
// has a child that does the same.
//
//evidence:for promise-disconnect
func TestCloseEndsTheGroup(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{Grace: 100 * time.Millisecond}, `trap '' TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & wait; wait`)
	line, err := p.ReadLine()
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(line))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	gone(t, p.Pid())
	gone(t, child)
}

// TestLeaderLeavesAChild: the child holds the pipes and would run for long.
func TestLeaderLeavesAChild(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `sleep 600 & echo $!`)
	lines, err := readAll(p)
	if !errors.Is(err, io.EOF) || len(lines) != 1 {
		t.Fatalf("read %q, %v", lines, err)
	}
	child, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	gone(t, child)
}

// TestPipeHeldFromOutside: a child that has left the group keeps the pipes.
func TestPipeHeldFromOutside(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `setsid sleep 30 & echo $!; echo last`)
	lines, err := readAll(p)
	if !errors.Is(err, io.EOF) || len(lines) != 2 || lines[1] != "last" {
		t.Errorf("read %q, %v", lines, err)
	}
	if pid, err := strconv.Atoi(lines[0]); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestWriteToOneThatDoesNotRead: it reads one byte and no more.
func TestWriteToOneThatDoesNotRead(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{Grace: 50 * time.Millisecond}, `dd bs=1 count=1 of=/dev/null 2>/dev/null; echo began; sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wrote := make(chan error, 1)
	go func() { wrote <- p.WriteLine(ctx, bytes.Repeat([]byte("x"), 1<<20)) }()
	if line, err := p.ReadLine(); err != nil || string(line) != "began" {
		t.Fatalf("read %q, %v", line, err)
	}
	cancel()
	if err := <-wrote; !errors.Is(err, context.Canceled) {
		t.Errorf("a full pipe: %v", err)
	}
	if err := p.WriteLine(t.Context(), []byte("y")); err == nil {
		t.Error("a line was written after half of another")
	}
}

func TestWriteToTheDead(t *testing.T) {
	t.Parallel()
	p := start(t, procio.Config{}, `exit 0`)
	<-p.Exited()
	if err := p.WriteLine(t.Context(), []byte("x")); err == nil {
		t.Error("a line was written to a closed input")
	}
}

//evidence:for promise-disconnect
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, procio.Config{StateDir: dir}, `echo ready; sleep 600 & wait`)
	if _, err := p.ReadLine(); err != nil {
		t.Fatal(err)
	}
	notes, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes: %v, %v", notes, err)
	}
	note, err := os.ReadFile(notes[0])
	if err != nil {
		t.Fatal(err)
	}

	// The same id, but another process: it must live.
	other := t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "processes"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(note), `"start":`) + len(`"start":`)
	forged := string(note[:at]) + "1" + string(note[at:])
	if err := os.WriteFile(filepath.Join(other, "processes", "x.json"), []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := procio.EndLeftovers(other); n != 0 || err != nil {
		t.Errorf("with another start time %d groups were ended, %v", n, err)
	}
	if !alive(p.Pid()) {
		t.Fatal("a process that was not noted was ended")
	}

	if n, err := procio.EndLeftovers(dir); n != 1 || err != nil {
		t.Errorf("%d groups were ended, %v", n, err)
	}
	gone(t, p.Pid())
	if n, err := procio.EndLeftovers(dir); n != 0 || err != nil {
		t.Errorf("the second time %d groups were ended, %v", n, err)
	}
}

func TestNoteIsGoneAfterTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, procio.Config{StateDir: dir}, `exit 0`)
	<-p.Exited()
	if notes, _ := filepath.Glob(filepath.Join(dir, "*", "*.json")); len(notes) != 0 {
		t.Errorf("notes: %v", notes)
	}
}

// What the gateway's process has in its environment is no business of an agent's. A caller
// that says nothing of an environment hands nothing over.
func TestAProcessInheritsNothing(t *testing.T) {
	t.Setenv("DATABASE_PASSWORD", "a-secret-of-the-server")
	for name, env := range map[string][]string{"nil": nil, "empty": {}, "one variable": {"LANG=C"}} {
		out, err := procio.Output(t.Context(), "sh", env, "-c", "env")
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, procio.Config{Env: env}, "env")
		lines, _ := readAll(p)
		for _, seen := range []string{string(out), strings.Join(lines, "\n")} {
			if strings.Contains(seen, "a-secret") || strings.Contains(seen, "HOME=") || strings.Contains(seen, "LANG=C") != (len(env) == 1) {
				t.Errorf("%s: the process sees\n%s", name, seen)
			}
		}
	}
}
