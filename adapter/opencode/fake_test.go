package opencode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// fakeVariable makes the test binary a server: its value says how the server misbehaves.
const fakeVariable = "FAKE_OPENCODE"

func TestMain(m *testing.M) {
	agenttest.Fake(fakeVariable, serveFake)
	goleak.VerifyTestMain(m)
}

type object = map[string]any

// fake is a server as OpenCode's. The words of a prompt say what the
// fake does.
type fake struct {
	state string // a file that outlives the process, or ""

	mu       sync.Mutex
	n        int
	sessions map[string][]*fakeMessage
	undone   map[string]string // where a session is to be cut at its next prompt
	streams  map[chan string]context.CancelFunc
	// unwritten counts the events that are queued in streams.
	unwritten sync.WaitGroup
	mute      bool
	busy      map[string]context.CancelFunc
	open      map[string]object // requests and questions
	answers   map[string]chan object
	calls     []string
	rules     string // of the newest session
}

type fakeMessage struct {
	Info  object   `json:"info"`
	Parts []object `json:"parts"`
}

// newFake is a fake in the test's own process, which ends with the test.
func newFake(t *testing.T) *fake {
	t.Helper()
	f := makeFake("")
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, stop := range f.busy {
			stop()
		}
	})
	return f
}

func makeFake(state string) *fake {
	f := &fake{
		state: state, sessions: map[string][]*fakeMessage{}, undone: map[string]string{}, streams: map[chan string]context.CancelFunc{},
		busy: map[string]context.CancelFunc{}, open: map[string]object{}, answers: map[string]chan object{},
	}
	f.sessions = f.saved()
	return f
}

// serveFake is the program `opencode`.
func serveFake(how string) (code int) {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("1.18.33")
		return 0
	}
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "Error: the configuration is broken")
		return 1
	case "silent":
		time.Sleep(time.Minute)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 2
	}
	fmt.Printf("opencode server listening on http://%s\n", l.Addr())
	f := makeFake(os.Getenv("FAKE_STATE"))
	_ = http.Serve(l, agenttest.FakeServer(f.handler(os.Getenv("OPENCODE_SERVER_PASSWORD")))) //nolint:gosec // for tests
	return 0
}

func (f *fake) handler(password string) http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
	mux.HandleFunc("GET /global/health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, object{"healthy": true, "version": "1.18.33"})
	})
	mux.HandleFunc("GET /event", f.events)
	mux.HandleFunc("GET /agent", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, []object{{"name": "build", "mode": "primary"}, {"name": "plan", "mode": "primary"}, {"name": "general", "mode": "subagent"}, {
			"name": "loose", "mode": "subagent", "permission": []object{
				{"permission": "*", "pattern": "*", "action": "ask"}, {"permission": "bash", "pattern": "git *", "action": "allow"},
			},
		}, {
			"name": "careful", "mode": "subagent", "permission": []object{
				{"permission": "*", "pattern": "*", "action": "allow"}, {"permission": "*", "pattern": "*", "action": "ask"},
			},
		}})
	})
	mux.HandleFunc("GET /config/providers", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, object{"providers": []object{{"id": "p", "models": object{"m": object{"name": "M"}}}}})
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		rules, _ := io.ReadAll(r.Body)
		f.rules = string(rules)
		id := f.id("ses")
		f.sessions[id] = []*fakeMessage{}
		reply(w, object{"id": id, "title": "New session - 2026"})
	})
	mux.HandleFunc("/session/{id}/{what...}", func(w http.ResponseWriter, r *http.Request) {
		var body object
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.mu.Lock()
		defer f.mu.Unlock()
		id := r.PathValue("id")
		all, known := f.sessions[id]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			reply(w, object{"name": "NotFoundError", "data": object{"message": "Session not found: " + id}})
			return
		}
		switch r.PathValue("what") {
		case "message":
			reply(w, all)
		case "revert":
			f.undone[id] = fmt.Sprint(body["messageID"])
			reply(w, object{"id": id})
		case "abort":
			if stop := f.busy[id]; stop != nil {
				stop()
			}
			reply(w, true)
		case "prompt_async":
			parts, _ := body["parts"].([]any)
			first, _ := parts[0].(object)
			for _, part := range parts {
				if file, _ := part.(object); file["type"] == "file" {
					f.calls = append(f.calls, fmt.Sprintf("file %v", file["url"]))
				}
			}
			f.calls = append(f.calls, fmt.Sprintf("prompt %v %v %v", first["text"], body["agent"], body["model"]))
			f.prompt(w, id, fmt.Sprint(first["text"]))
		}
	})
	mux.HandleFunc("PATCH /session/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if id := r.PathValue("id"); f.sessions[id] != nil {
			reply(w, object{"id": id})
			return
		}
		w.WriteHeader(http.StatusNotFound)
		reply(w, object{"name": "NotFoundError"})
	})
	mux.HandleFunc("GET /session/status", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		all := object{}
		for id := range f.busy {
			all[id] = object{"type": "busy"}
		}
		reply(w, all)
	})
	for _, kind := range []string{"permission", "question"} {
		mux.HandleFunc("GET /"+kind, func(w http.ResponseWriter, _ *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			all := []object{}
			for _, id := range slices.Sorted(maps.Keys(f.open)) {
				if strings.HasPrefix(id, kind[:3]) {
					all = append(all, f.open[id])
				}
			}
			reply(w, all)
		})
		mux.HandleFunc("POST /"+kind+"/{id}/{how}", func(w http.ResponseWriter, r *http.Request) {
			body := object{}
			_ = json.NewDecoder(r.Body).Decode(&body)
			f.mu.Lock()
			defer f.mu.Unlock()
			id := r.PathValue("id")
			f.calls = append(f.calls, fmt.Sprintf("%s %s %v", kind, r.PathValue("how"), body))
			if c := f.answers[id]; c != nil {
				delete(f.answers, id)
				c <- body
			}
			delete(f.open, id)
			reply(w, true)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html>")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// id makes an id. The caller holds f.mu.
func (f *fake) id(kind string) string {
	f.n++
	return fmt.Sprintf("%s_%d_%06d", kind, os.Getpid(), f.n)
}

// events is the stream.
func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	lines := make(chan string, 1000)
	f.mu.Lock()
	f.streams[lines] = cut
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.streams, lines)
		f.unwritten.Add(-len(lines))
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	_, _ = io.WriteString(w, `data: {"type":"server.connected","properties":{}}`+"\n\n")
	_ = flush()
	beat := time.NewTicker(20 * time.Millisecond)
	defer beat.Stop()
	for {
		line, written := `data: {"type":"server.heartbeat","properties":{}}`+"\n\n", func() {}
		select {
		case <-ctx.Done():
			return
		case line = <-lines:
			written = f.unwritten.Done
		case <-beat.C:
		}
		_, _ = io.WriteString(w, line)
		_ = flush()
		written()
	}
}

// say publishes an event. The caller holds f.mu.
func (f *fake) say(kind string, properties object) {
	data, _ := json.Marshal(object{"type": kind, "properties": properties})
	f.raw("data: " + string(data) + "\n\n")
}

func (f *fake) raw(text string) {
	for lines := range f.streams {
		if !f.mute {
			f.unwritten.Add(1)
			lines <- text
		}
	}
}

// prompt begins a turn. The caller holds f.mu.
func (f *fake) prompt(w http.ResponseWriter, session, text string) {
	if text == "refuse" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"data":{"message":"no such model"}}`)
		return
	}
	if cut := f.undone[session]; cut != "" {
		at := slices.IndexFunc(f.sessions[session], func(m *fakeMessage) bool { return m.Info["id"] == cut })
		f.sessions[session] = f.sessions[session][:at]
		delete(f.undone, session)
	}
	user := &fakeMessage{Info: object{"id": f.id("msg"), "role": "user", "sessionID": session}}
	f.sessions[session] = append(f.sessions[session], user)
	f.say("message.updated", object{"sessionID": session, "info": user.Info})
	p := &script{f: f, session: session, user: user}
	p.part(user, object{"type": "text", "text": text})
	if f.busy[session] != nil {
		w.WriteHeader(http.StatusNoContent)
		return // the running turn reads it
	}
	p.ctx, f.busy[session] = context.WithCancel(context.Background())
	w.WriteHeader(http.StatusNoContent)
	_ = http.NewResponseController(w).Flush() // before run, which may end the process
	go p.run(text)
}

// saved are the conversations of all servers.
func (f *fake) saved() map[string][]*fakeMessage {
	all := map[string][]*fakeMessage{}
	if data, err := os.ReadFile(f.state); err == nil {
		_ = json.Unmarshal(data, &all)
	}
	return all
}

// save keeps a conversation. The caller holds f.mu.
func (f *fake) save(session string) {
	all := f.saved()
	all[session] = f.sessions[session]
	if data, err := json.Marshal(all); err == nil && f.state != "" {
		_ = os.WriteFile(f.state, data, 0o600)
	}
}
