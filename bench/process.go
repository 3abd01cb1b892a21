package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"syscall"
	"time"
)

// How long a server may take to be ready, and to end.
const (
	readyWithin = time.Minute
	endWithin   = 30 * time.Second
)

// process is a server that runs. When it is ready it prints its address.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer // the simple servers end with it
	stderr  bytes.Buffer
	address *url.URL
	done    chan struct{}
}

func startProcess(ctx context.Context, dir, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), done: make(chan struct{})} //nolint:noctx // end ends it
	p.cmd.Dir = dir
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p.stdin = stdin
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	lines := make(chan string, 1)
	go func() {
		defer close(p.done)
		in := bufio.NewScanner(out)
		if in.Scan() {
			lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
	}()
	timer := time.NewTimer(readyWithin)
	defer timer.Stop()
	select {
	case line := <-lines:
		if p.address, err = url.Parse(line); err == nil {
			return p, nil
		}
		err = fmt.Errorf("%s printed %q, which is no address: %w", program, line, err)
	case <-p.done:
		return nil, fmt.Errorf("%s ended at its start: %s", program, bytes.TrimSpace(p.stderr.Bytes()))
	case <-timer.C:
		err = fmt.Errorf("%s was not ready within %s", program, readyWithin)
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return nil, err
}

// end lets the process end by itself, and sees that it does.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.stdin.Close()
	timer := time.NewTimer(endWithin)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.kill()
	}
}

// kill ends a process whose last words nobody needs.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) cpu() (time.Duration, error) { return processorTime(p.cmd.Process.Pid) }
func (p *process) memory() (int64, error)      { return memoryOf(p.cmd.Process.Pid) }
