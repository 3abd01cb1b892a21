package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// answerWithin bounds the time of an answer, far above the usual time.
const answerWithin = 60 * time.Second

// gateway is a running gateway, which ends with the context of its start.
type gateway struct {
	*launch.Server

	client *http.Client
}

// unlimited lets one principal do the work of thousands.
const unlimited = "limits: {requests: none, streams: none, clients: none, prompts: none}\n"

// start starts a gateway on a data directory and waits until it is ready.
func (b *bench) start(ctx context.Context, data, config string, args ...string) (*gateway, error) {
	file := filepath.Join(b.dir, "tributary.yaml")
	if err := os.WriteFile(file, []byte(unlimited+config), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	args = append([]string{"serve", "--config", file, "--listen", "127.0.0.1:0", "--data", data, "--cwd", b.dir}, args...)
	s, err := launch.Start(ctx, exec.CommandContext(ctx, b.binary, args...))
	if err != nil {
		return nil, err
	}
	g := &gateway{Server: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}}}
	b.running = append(slices.DeleteFunc(b.running, (*gateway).dead), g)
	return g, nil
}

// kill ends the gateway without warning, and waits for its death.
func (g *gateway) kill() {
	g.Kill()
	g.client.CloseIdleConnections()
}

func (g *gateway) dead() bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// end asks the gateway to end, and waits.
func (g *gateway) end() error {
	defer g.client.CloseIdleConnections()
	return g.End()
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
	r, err := http.NewRequestWithContext(ctx, method, g.Base()+path, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+g.Token())
	return g.client.Do(r)
}

// read returns the whole body of a response. An incomplete body and a refusal are errors.
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
		return nil, fmt.Errorf("GET %s: the body is incomplete: %w", path, err)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("GET %s: %s: %.500s", path, res.Status, body)
	}
	return body, nil
}

// prompt posts a prompt as a stock client does.
func (g *gateway) prompt(ctx context.Context, session, id, text string) (*http.Response, error) {
	return g.promptTo(ctx, "", session, id, text)
}

// promptTo is prompt with an agent that is not the default.
func (g *gateway) promptTo(ctx context.Context, agent, session, id, text string) (*http.Response, error) {
	return g.call(ctx, http.MethodPost, "/api/chat?agent="+agent, map[string]any{
		"id": session, "trigger": "submit-message",
		"messages": []any{map[string]any{"id": id, "role": "user", "parts": []any{map[string]string{"type": "text", "text": text}}}},
	})
}

// metrics reads numbers of /metrics.
func (g *gateway) metrics(ctx context.Context, names ...string) ([]float64, error) {
	body, err := g.read(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(names))
	for i, name := range names {
		_, rest, ok := strings.Cut("\n"+string(body), "\n"+name+" ")
		if !ok {
			return nil, errors.New("there is no metric " + name)
		}
		if _, err := fmt.Sscan(rest, &values[i]); err != nil {
			return nil, fmt.Errorf("the metric %s cannot be read: %w", name, err)
		}
	}
	return values, nil
}
