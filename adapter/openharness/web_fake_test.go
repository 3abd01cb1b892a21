package openharness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// webServer is the HTTP server of version 0.2. Events without a reader are lost.
type webServer struct {
	*httptest.Server
	mu      sync.Mutex
	reader  *webReader
	status  string
	calls   []string
	stop    chan struct{}
	work    sync.WaitGroup
	late    bool // a reader that comes after the prompt misses the beginning
	prompts int
	lingers chan struct{} // a stopped flow runs until a prompt is refused; nil: it pauses at once
}

type webReader struct {
	w    http.ResponseWriter
	over chan struct{}
}

func newWeb(t testing.TB) *webServer {
	t.Helper()
	s := &webServer{status: "paused", stop: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ok"}`)) })
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("GET /api/events/{run}", s.events)
	mux.HandleFunc("POST /api/commands", func(w http.ResponseWriter, r *http.Request) {
		var c struct{ Type string }
		_ = json.NewDecoder(r.Body).Decode(&c)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, "command "+c.Type)
		close(s.stop)
		s.stop = make(chan struct{})
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"success":true}`))
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.mu.Lock()
		close(s.stop)
		s.mu.Unlock()
		s.work.Wait()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *webServer) chat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Parts []struct{ Text string } }
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	prompt := body.Messages[len(body.Messages)-1].Parts[0].Text
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, "chat "+prompt)
	w.Header().Set("Content-Type", "application/json")
	if s.status != "paused" || prompt == "busy" {
		if s.lingers != nil {
			close(s.lingers)
			s.lingers = nil
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":"Runtime not paused (status: running)"}`))
		return
	}
	s.status = "running"
	stop := s.stop
	s.prompts++
	s.work.Go(func() {
		for until := time.Now().Add(5 * time.Second); !s.late && !s.has() && time.Now().Before(until); {
			time.Sleep(time.Millisecond) // the model takes its time
		}
		a := &chunkActor{s: s}
		a.send(object{"type": "step-start"})
		perform(a, prompt, stop)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.status = "paused"
	})
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"runId":"run-1"}`))
}

func (s *webServer) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader != nil
}

func (s *webServer) events(w http.ResponseWriter, r *http.Request) {
	reader := &webReader{w, make(chan struct{})}
	w.Header().Set("Content-Type", "text/event-stream")
	s.mu.Lock()
	s.calls = append(s.calls, "events")
	s.reader = reader // before the client can know that it reads
	_ = http.NewResponseController(w).Flush()
	s.mu.Unlock()
	select {
	case <-reader.over:
	case <-r.Context().Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.reader == reader {
			s.reader = nil
		}
	}
}

// close ends the stream of the reader. The flow is paused by then: the client may send the
// next prompt at once.
func (s *webServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = "paused"
	if s.reader != nil {
		close(s.reader.over)
		s.reader = nil
	}
}

// chunkActor is an agent whose events come as chunks, with the faults of the server.
type chunkActor struct {
	s               *webServer
	text, reasoning bool
}

func (a *chunkActor) send(c object) {
	data, _ := json.Marshal(c)
	a.raw(string(data))
}

func (a *chunkActor) raw(text string) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.s.reader != nil {
		fmt.Fprintf(a.s.reader.w, "data: %s\n\n", text)
		_ = http.NewResponseController(a.s.reader.w).Flush()
	}
}

func (a *chunkActor) think(text string) {
	if !a.reasoning {
		a.send(object{"type": "reasoning-start", "id": "m"})
	}
	a.reasoning = true
	a.send(object{"type": "reasoning-delta", "id": "m", "delta": text})
	a.send(object{"type": "reasoning-end", "id": "m"})
}

func (a *chunkActor) say(text string) {
	if !a.text {
		a.send(object{"type": "text-start", "id": "m"})
	}
	a.text = true
	a.send(object{"type": "text-delta", "id": "m", "delta": text})
}

func (a *chunkActor) tool(name, input, output, failed string) {
	a.send(object{"type": "text-end", "id": "m"})
	id := "run-1-" + name
	a.send(object{"type": "tool-input-available", "toolCallId": id, "toolName": name, "input": json.RawMessage(input)})
	if failed != "" {
		a.send(object{"type": "error", "errorText": failed})
		return
	}
	a.send(object{"type": "tool-output-available", "toolCallId": id, "output": json.RawMessage(output)})
}

func (a *chunkActor) fail(why string) {
	a.send(object{"type": "error", "errorText": why})
	a.send(object{"type": "error", "errorText": why})
	a.s.close()
}

func (a *chunkActor) ask(string, string, ...string) (string, bool) {
	a.s.close() // a pause ends the stream
	return "", false
}

func (a *chunkActor) die(half bool) {
	if half {
		a.raw(`{"type":"text-de`)
	}
	a.fail("the process died")
}

func (a *chunkActor) aborted() {
	a.send(object{"type": "error", "errorText": "Agent execution was aborted"})
	a.s.mu.Lock()
	lingers := a.s.lingers
	a.s.mu.Unlock()
	if lingers != nil {
		<-lingers
	}
	a.s.close()
}

func (a *chunkActor) end() {
	a.send(object{"type": "text-end", "id": "m"})
	a.s.close()
}
