package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// endpoint is an app whose chat route speaks the AI SDK's stream. Its run says a word each 100 ms until
// finish, or until somebody asks for its stop.
type endpoint struct {
	server   *http.Server
	listener net.Listener
	ended    chan struct{}
	end      sync.Once

	mu  sync.Mutex
	got []string // requests
}

func startEndpoint(ctx context.Context) (*endpoint, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the agent's server: %w", err)
	}
	e := &endpoint{listener: l, ended: make(chan struct{})}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: answerWithin}
	go func() { _ = e.server.Serve(l) }()
	return e, nil
}

func (e *endpoint) url() string { return "http://" + e.listener.Addr().String() }

func (e *endpoint) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

// finish ends the run.
func (e *endpoint) finish() { e.end.Do(func() { close(e.ended) }) }

func (e *endpoint) close() {
	e.finish()
	_ = e.server.Close()
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.got = append(e.got, r.Method+" "+r.URL.Path)
	e.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path != "/api/chat" { // a stop
		e.finish()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	say := func(chunk map[string]string) {
		data, _ := json.Marshal(chunk) // strings are always JSON
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
	say(map[string]string{"type": "start", "messageId": "m1"})
	say(map[string]string{"type": "start-step"})
	say(map[string]string{"type": "text-start", "id": "t"})
	word := time.NewTicker(100 * time.Millisecond)
	defer word.Stop()
	for running := true; running; {
		select {
		case <-word.C:
			say(map[string]string{"type": "text-delta", "id": "t", "delta": "word "})
		case <-e.ended:
			running = false
		case <-r.Context().Done():
			return
		}
	}
	for _, kind := range []string{"text-end", "finish-step", "finish"} {
		say(map[string]string{"type": kind, "id": "t"})
	}
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
}
