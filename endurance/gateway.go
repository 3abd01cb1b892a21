package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What a gateway may take, far more than it does.
const (
	startWithin  = 30 * time.Second
	endWithin    = 40 * time.Second
	answerWithin = 60 * time.Second
)

// gateway is a running gateway. It ends with the context of its start.
type gateway struct {
	base, token string
	pid         int
	cmd         *exec.Cmd
	done        chan struct{}
	stderr      string // the file of what it says
	client      *http.Client
}

// unlimited is for one principal who does the work of thousands.
const unlimited = "limits: {requests: none, streams: none, clients: none, prompts: none}\n"

// start starts a gateway on a data directory and waits until it is ready.
func (b *bench) start(ctx context.Context, data, config string, args ...string) (*gateway, error) {
	file := filepath.Join(b.dir, "tributary.yaml")
	if err := os.WriteFile(file, []byte(unlimited+config), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	args = append([]string{"serve", "--config", file, "--listen", "127.0.0.1:0", "--data", data, "--cwd", b.dir}, args...)
	g := &gateway{done: make(chan struct{}), stderr: filepath.Join(b.dir, "stderr.log")}
	g.cmd = exec.CommandContext(ctx, b.binary, args...)
	said, err := os.Create(g.stderr)
	if err != nil {
		return nil, fmt.Errorf("make a file for what the gateway says: %w", err)
	}
	defer said.Close()
	g.cmd.Stderr = said
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the gateway: %w", err)
	}
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the gateway: %w", err)
	}
	g.pid, b.last = g.cmd.Process.Pid, g
	lines := make(chan string, 1)
	go func() { // ends with the process
		defer close(g.done)
		in := bufio.NewScanner(out)
		if in.Scan() {
			lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, out)
		_ = g.cmd.Wait()
	}()
	late := time.NewTimer(startWithin)
	defer late.Stop()
	select {
	case line := <-lines:
		u, err := url.Parse(line)
		if err != nil {
			g.kill()
			return nil, fmt.Errorf("the ready line %q is no URL: %w", line, err)
		}
		g.base, g.token = "http://"+u.Host, u.Query().Get("token")
	case <-g.done:
		return nil, fmt.Errorf("the gateway ended at its start: %s", g.lastWords())
	case <-late.C:
		g.kill()
		return nil, fmt.Errorf("the gateway was not ready after %s: %s", startWithin, g.lastWords())
	}
	g.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}}
	return g, nil
}

// kill ends the gateway without warning, and waits for its death.
func (g *gateway) kill() {
	_ = g.cmd.Process.Kill()
	<-g.done
	g.hangUp()
}

// end asks the gateway to end, and waits.
func (g *gateway) end() error {
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-g.done:
		g.hangUp()
		if code := g.cmd.ProcessState.ExitCode(); code != 0 {
			return fmt.Errorf("the gateway ended with status %d: %s", code, g.lastWords())
		}
		return nil
	case <-late.C:
		g.kill()
		return fmt.Errorf("the gateway did not end within %s after SIGTERM", endWithin)
	}
}

func (g *gateway) hangUp() {
	if g.client != nil {
		g.client.CloseIdleConnections()
	}
}

// lastWords are the last lines that the gateway said.
func (g *gateway) lastWords() string {
	said, err := os.ReadFile(g.stderr)
	if err != nil {
		return err.Error()
	}
	const last = 2000
	return string(said[max(0, len(said)-last):])
}

// call makes a request; the caller closes the body.
func (g *gateway) call(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, g.base+path, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	return g.client.Do(r)
}

// read returns the whole body of an answer. One that breaks off is an error, and
// so is a refusal.
func (g *gateway) read(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	res, err := g.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s broke off: %w", path, err)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("GET %s: %s: %.500s", path, res.Status, body)
	}
	return body, nil
}

// prompt posts what a stock client posts.
func (g *gateway) prompt(ctx context.Context, session, id, text string) (*http.Response, error) {
	return g.call(ctx, http.MethodPost, "/api/chat", map[string]any{
		"id": session, "trigger": "submit-message",
		"messages": []any{map[string]any{"id": id, "role": "user", "parts": []any{map[string]string{"type": "text", "text": text}}}},
	})
}

// metric reads a number of /metrics.
func (g *gateway) metric(ctx context.Context, name string) (float64, error) {
	body, err := g.read(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		var value float64
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				return 0, fmt.Errorf("the metric %s is %q: %w", name, rest, err)
			}
			return value, nil
		}
	}
	return 0, errors.New("there is no metric " + name)
}
