package openharness

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
)

// webTransport is a Transport for the HTTP server of version 0.2. A prompt is a request, and
// its events are another. The server keeps no event for a reader that comes late, so the
// reader comes first once the id of the run is known.
type webTransport struct {
	remote.HTTP
	mu      sync.Mutex
	run     string
	stopped time.Time // the newest stop
}

const (
	// pausing is how long after a stop a flow may still run. The server refuses prompts until it has paused.
	pausing = 5 * time.Second
	// lookAgain is how soon a refused prompt is sent again.
	lookAgain = 50 * time.Millisecond
)

// Do implements remote.Transport.
func (t *webTransport) Do(ctx context.Context, c remote.Call, by agent.Caller) (json.RawMessage, error) {
	if c.Path == commandsPath {
		t.mu.Lock()
		t.stopped = time.Now()
		t.mu.Unlock()
	}
	return t.HTTP.Do(ctx, c, by)
}

// begin sends a prompt; behind a stop, until the flow has paused.
func (t *webTransport) begin(ctx context.Context, c remote.Call, by agent.Caller) (json.RawMessage, error) {
	t.mu.Lock()
	until := t.stopped.Add(pausing)
	t.mu.Unlock()
	for {
		answer, err := t.Do(ctx, c, by)
		if !remote.Refused(err, http.StatusConflict) || time.Now().After(until) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}

func (t *webTransport) known() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

func (t *webTransport) events(run string) remote.Call {
	return remote.Call{Method: http.MethodGet, Path: "/api/events/" + url.PathEscape(run), Stream: true}
}

// Stream implements remote.Transport.
func (t *webTransport) Stream(ctx context.Context, c remote.Call, by agent.Caller) (remote.Stream, error) {
	if c.Method != http.MethodPost {
		return t.HTTP.Stream(ctx, c, by)
	}
	var early remote.Stream
	run := t.known()
	if run != "" {
		early, _ = t.HTTP.Stream(ctx, t.events(run), by) // the prompt says what is wrong
	}
	var made struct {
		Run string `json:"runId"`
	}
	answer, err := t.begin(ctx, c, by)
	if err == nil && (json.Unmarshal(answer, &made) != nil || made.Run == "") {
		err = errors.New("the server took the prompt and named no run: is this Open Harness 0.2?")
	}
	if err == nil && early != nil && made.Run == run {
		return early, nil
	}
	if early != nil {
		early.Close()
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.run = made.Run
	t.mu.Unlock()
	return t.HTTP.Stream(ctx, t.events(made.Run), by)
}
