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

// endpoint is an app whose chat route speaks the AI SDK's stream. A run says a number each 100 ms until finish, or until
// somebody asks for its stop. A resume has it from its beginning.
type endpoint struct {
	server   *http.Server
	listener net.Listener

	mu    sync.Mutex
	got   []string // requests
	began time.Time
	ended chan struct{}
}

func startEndpoint(ctx context.Context) (*endpoint, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the agent's server: %w", err)
	}
	e := &endpoint{listener: l}
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

// finish ends the newest run.
func (e *endpoint) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended != nil {
		close(e.ended)
		e.ended = nil
	}
}

func (e *endpoint) close() {
	e.finish()
	_ = e.server.Close()
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.got = append(e.got, r.Method+" "+r.URL.Path)
	if r.Method == http.MethodPost && r.URL.Path == "/api/chat" {
		e.began, e.ended = time.Now(), make(chan struct{})
	}
	began, ended := e.began, e.ended
	e.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path != "/api/chat" { // a stop
		e.finish()
		return
	}
	if ended == nil {
		w.WriteHeader(http.StatusNoContent)
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
	said := 0
	for running := true; running; {
		select {
		case <-word.C:
			for ; said < int(time.Since(began)/(100*time.Millisecond)); said++ {
				say(map[string]string{"type": "text-delta", "id": "t", "delta": fmt.Sprint(said, " ")})
			}
		case <-ended:
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
