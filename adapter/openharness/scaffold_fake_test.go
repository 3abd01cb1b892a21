package openharness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// scaffoldServer is a server of Open Scaffold. Its event streams never end by themselves.
type scaffoldServer struct {
	*httptest.Server
	mu       sync.Mutex
	sessions map[string]*fakeSession
	calls    []string
	cut      int           // streams are cut after so many events, once for each; 0 is never
	pace     time.Duration // between two events
	work     sync.WaitGroup
}

type fakeSession struct {
	srv     *scaffoldServer
	log     []object
	read    int           // of the log, by the reader that got furthest
	more    chan struct{} // closed and replaced with each event
	running bool
	stop    chan struct{}
	answers map[string]chan string
	half    bool // the next stream ends within a frame
}

func newScaffold(t testing.TB, cut *agenttest.Cut) *scaffoldServer {
	t.Helper()
	s := &scaffoldServer{sessions: map[string]*fakeSession{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sessions", s.create)
	mux.HandleFunc("GET /sessions/{id}/events", s.events)
	mux.HandleFunc("GET /sessions/{id}", s.with(func(f *fakeSession, _ *http.Request) any { return object{"running": f.running} }))
	mux.HandleFunc("GET /sessions/{id}/state", s.with(func(f *fakeSession, _ *http.Request) any { return object{"state": object{}, "events": f.log} }))
	mux.HandleFunc("POST /sessions/{id}/pause", s.with(func(f *fakeSession, _ *http.Request) any {
		was := f.running
		if f.running = false; was {
			close(f.stop)
		}
		return object{"ok": true, "wasPaused": was}
	}))
	mux.HandleFunc("POST /sessions/{id}/input", s.with(func(f *fakeSession, r *http.Request) any {
		var body struct{ Event object }
		_ = json.NewDecoder(r.Body).Decode(&body)
		p, _ := body.Event["payload"].(object)
		id, _ := p["id"].(string)
		value, _ := p["value"].(string)
		f.add(body.Event)
		if c := f.answers[id]; c != nil {
			c <- value
		}
		return object{"ok": true}
	}))
	s.Server = httptest.NewServer(cut.Serve(mux))
	t.Cleanup(func() {
		s.mu.Lock()
		for _, f := range s.sessions {
			if f.running {
				f.running = false
				close(f.stop)
			}
		}
		s.mu.Unlock()
		s.work.Wait()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *scaffoldServer) with(answer func(*fakeSession, *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, r.Method+" "+r.URL.RequestURI())
		f := s.sessions[r.PathValue("id")]
		w.Header().Set("Content-Type", "application/json")
		if f == nil {
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(object{"error": "Session not found"})
			return
		}
		_ = json.NewEncoder(w).Encode(answer(f, r))
	}
}

func (s *scaffoldServer) create(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	w.Header().Set("Content-Type", "application/json")
	switch body.Input {
	case "": // as the real one
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"input is required"}`))
		return
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>"))
		return
	case "moved":
		http.Redirect(w, r, "https://elsewhere.test/", http.StatusFound)
		return
	}
	s.mu.Lock()
	id := fmt.Sprintf("session-%d", len(s.sessions)+1)
	f := &fakeSession{srv: s, more: make(chan struct{}), running: true, stop: make(chan struct{}), answers: map[string]chan string{}}
	s.sessions[id] = f
	s.mu.Unlock()
	s.work.Go(func() {
		a := &workflowActor{f}
		f.emit("state:intent", object{"state": object{}})
		f.emit("workflow:started", object{"sessionId": id, "workflow": "demo", "input": body.Input})
		f.emit("phase:entered", object{"phase": "work"})
		f.emit("agent:started", object{"agent": "worker", "phase": "work"})
		perform(a, body.Input, f.stop)
		s.mu.Lock()
		f.running = false
		s.mu.Unlock()
	})
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(object{"sessionId": id})
}

func (s *scaffoldServer) events(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, "GET "+r.URL.RequestURI())
	f := s.sessions[r.PathValue("id")]
	s.mu.Unlock()
	at, _ := strconv.Atoi(r.URL.Query().Get("fromPosition"))
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for sent := 0; f != nil; {
		s.mu.Lock()
		log, more := f.log[min(at, len(f.log)):], f.more
		half := f.half
		cut := s.cut
		s.mu.Unlock()
		for _, e := range log {
			data, _ := json.Marshal(e)
			if raw, is := e["raw"]; is {
				data = []byte(raw.(string)) //nolint:forcetypeassert // of this file
			}
			fmt.Fprintf(w, "event: %s\nid: %s\ndata: %s\n\n", e["name"], e["id"], data)
			at++
			s.mu.Lock()
			f.read = max(f.read, at)
			s.mu.Unlock()
			if sent++; cut > 0 && sent >= cut {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}
		if half {
			fmt.Fprint(w, "event: text:delta\ndata: {\"na")
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
	<-r.Context().Done()
}

// add appends an event to the log. The caller holds mu of the server.
func (f *fakeSession) add(e object) {
	f.log = append(f.log, e)
	close(f.more)
	f.more = make(chan struct{})
}

// emit adds an event. A workflow whose streams are cut waits for its reader.
func (f *fakeSession) emit(name string, payload object) {
	time.Sleep(f.srv.pace)
	f.srv.mu.Lock()
	defer f.srv.mu.Unlock()
	for f.srv.cut > 0 && f.running && f.read < len(f.log) {
		f.srv.mu.Unlock()
		time.Sleep(time.Millisecond)
		f.srv.mu.Lock()
	}
	f.add(object{"id": fmt.Sprintf("event-%d", len(f.log)+1), "name": name, "payload": payload, "timestamp": 1})
}

// workflowActor is an agent of a workflow.
type workflowActor struct{ f *fakeSession }

func (a *workflowActor) think(text string) {
	a.f.emit("thinking:delta", object{"agent": "worker", "delta": text})
}

func (a *workflowActor) say(text string) {
	a.f.emit("text:delta", object{"agent": "worker", "delta": text})
}

func (a *workflowActor) tool(name, input, output, failed string) {
	id := fmt.Sprintf("tool-%d", len(a.f.log))
	a.f.emit("tool:called", object{"agent": "worker", "toolId": id, "toolName": name, "input": json.RawMessage(input)})
	if failed != "" {
		output = strconv.Quote(failed)
	}
	a.f.emit("tool:result", object{"agent": "worker", "toolId": id, "output": json.RawMessage(output), "isError": failed != ""})
}

func (a *workflowActor) raw(text string) {
	a.f.srv.mu.Lock()
	defer a.f.srv.mu.Unlock()
	a.f.add(object{"name": "x", "id": "x", "raw": strings.ReplaceAll(text, "\n", " ")})
}

// fail is the failure of a workflow: the server says nothing of it.
func (a *workflowActor) fail(string) {}

func (a *workflowActor) ask(kind, prompt string, options ...string) (string, bool) {
	id, answer := fmt.Sprintf("input-%d", len(a.f.log)), make(chan string, 1)
	a.f.srv.mu.Lock()
	a.f.answers[id] = answer
	a.f.srv.mu.Unlock()
	a.f.emit("input:requested", object{"id": id, "prompt": prompt, "type": kind, "options": options})
	select {
	case value := <-answer:
		return value, true
	case <-a.f.stop:
		return "", false
	}
}

func (a *workflowActor) die(half bool) {
	a.f.srv.mu.Lock()
	defer a.f.srv.mu.Unlock()
	a.f.half = half
	close(a.f.more)
	a.f.more = make(chan struct{})
}

func (a *workflowActor) aborted() {}

func (a *workflowActor) end() {
	a.f.emit("agent:completed", object{"agent": "worker", "output": object{"done": true}, "durationMs": 1})
	a.f.emit("phase:exited", object{"phase": "work", "reason": "terminal"})
	a.f.emit("workflow:completed", object{"finalState": object{}, "exitPhase": "work"})
}
