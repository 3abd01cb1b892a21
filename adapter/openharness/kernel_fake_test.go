package openharness_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

type object = map[string]any

// kernelServer is a runtime with a WebSocket: all clients get all events.
type kernelServer struct {
	*httptest.Server
	mu       sync.Mutex
	clients  map[*websocket.Conn]bool
	commands []string
	stop     chan struct{}
	resume   chan string
	dead     int // so many connections are closed at once
	accepted int
	work     sync.WaitGroup
}

func newKernel(t testing.TB) *kernelServer {
	t.Helper()
	s := &kernelServer{clients: map[*websocket.Conn]bool{}, stop: make(chan struct{}), resume: make(chan string, 1)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ws":
		case "/page":
			_, _ = w.Write([]byte("<html>\n<h1>Please log in</h1>"))
			return
		case "/moved":
			http.Redirect(w, r, "https://elsewhere.test/", http.StatusFound)
			return
		default:
			http.NotFound(w, r)
			return
		}
		s.work.Add(1)
		defer s.work.Done()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // it has answered 426
		}
		defer conn.CloseNow() //nolint:errcheck // a test's
		if s.mu.Lock(); s.dead > 0 {
			s.dead--
			s.mu.Unlock()
			return
		}
		s.clients[conn] = true
		s.accepted++
		s.mu.Unlock()
		for {
			_, data, err := conn.Read(t.Context())
			if err != nil {
				break
			}
			s.dispatch(data)
		}
		s.mu.Lock()
		delete(s.clients, conn)
		s.mu.Unlock()
	}))
	t.Cleanup(func() {
		s.mu.Lock()
		close(s.stop)
		s.mu.Unlock()
		s.drop()
		s.work.Wait()
		s.Close()
	})
	return s
}

func (s *kernelServer) address() string { return strings.Replace(s.URL, "http", "ws", 1) }

func (s *kernelServer) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		_ = c.CloseNow()
	}
}

func (s *kernelServer) dispatch(data []byte) {
	var m struct {
		Command struct{ Type, Message, RunID string }
	}
	_ = json.Unmarshal(data, &m)
	c := m.Command
	s.mu.Lock()
	s.commands = append(s.commands, strings.TrimSpace(c.Type+" "+c.Message))
	stop := s.stop
	s.mu.Unlock()
	s.emit(object{"type": "command:received", "command": object{"type": c.Type}})
	switch {
	case c.Type == "send":
		s.work.Go(func() {
			a := &flowActor{s: s, run: "run-" + c.RunID}
			s.emit(object{"type": "flow:start", "flowName": "demo"})
			a.emit(object{"type": "node:start"})
			a.emit(object{"type": "agent:start", "sessionId": "x", "prompt": c.Message})
			if c.Message == "cut" {
				a.cut()
				return
			}
			perform(a, c.Message, stop)
		})
	case c.Type == "resume":
		s.resume <- c.Message
	case c.Type == "abort":
		s.mu.Lock()
		close(s.stop)
		s.stop = make(chan struct{})
		s.mu.Unlock()
	}
}

func (s *kernelServer) emit(e object) {
	data, _ := json.Marshal(object{"type": "event", "event": e})
	s.raw(string(data))
}

func (s *kernelServer) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		_ = c.Write(context.Background(), websocket.MessageText, []byte(text))
	}
}

// begin writes a frame that has no end.
func (s *kernelServer) begin(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if w, err := c.Writer(context.Background(), websocket.MessageText); err == nil {
			_, _ = w.Write([]byte(text))
		}
	}
}

// flowActor is an agent in a flow of one node.
type flowActor struct {
	s    *kernelServer
	run  string
	said string
}

func (a *flowActor) emit(e object) {
	e["nodeId"], e["runId"], e["timestamp"] = "agent", a.run, 1
	a.s.emit(e)
}

func (a *flowActor) whole() {
	if a.said != "" {
		a.emit(object{"type": "agent:text", "content": a.said})
	}
	a.said = ""
}

func (a *flowActor) think(text string) {
	a.whole()
	a.emit(object{"type": "agent:thinking:delta", "content": text})
	a.emit(object{"type": "agent:thinking", "content": text})
}

func (a *flowActor) say(text string) {
	if len(text) < 1<<20 { // a huge text is said once
		a.said += text
	}
	a.emit(object{"type": "agent:text:delta", "content": text})
}

func (a *flowActor) tool(name, input, output, failed string) {
	a.whole()
	e := object{"type": "agent:tool", "toolName": name, "toolInput": json.RawMessage(input)}
	if failed != "" {
		e["error"] = failed
	} else {
		e["toolOutput"] = json.RawMessage(output)
	}
	a.emit(e)
}

func (a *flowActor) raw(text string) { a.s.raw(text) }

func (a *flowActor) fail(why string) {
	a.emit(object{"type": "agent:error", "errorType": "api", "message": why})
	a.emit(object{"type": "node:error", "error": why})
	a.s.emit(object{"type": "flow:complete", "flowName": "demo", "status": "failed"})
}

// ask pauses the flow: the kernel has no other way to ask.
func (a *flowActor) ask(string, string, ...string) (string, bool) {
	a.s.mu.Lock()
	stop := a.s.stop
	a.s.mu.Unlock()
	a.emit(object{"type": "agent:paused"})
	a.s.emit(object{"type": "flow:paused"})
	select {
	case m := <-a.s.resume:
		a.s.emit(object{"type": "flow:resumed"})
		a.emit(object{"type": "agent:start", "prompt": m})
		return cmp.Or(m, "Go on"), true
	case <-stop:
		a.aborted()
		return "", false
	}
}

// die is the end of the server in the middle of a turn.
func (a *flowActor) die(half bool) {
	if half {
		a.s.begin(`{"type":"event","event":{"type":"agent:text","content":"` + strings.Repeat("x", 64<<10))
	}
	a.s.mu.Lock()
	a.s.dead = 3
	a.s.mu.Unlock()
	a.s.drop()
}

// cut loses the connection, and some of the events with it.
func (a *flowActor) cut() {
	a.say("One, ")
	was := a.s.connections()
	a.s.drop()
	a.said += "two, "
	for a.s.connections() == was {
		time.Sleep(time.Millisecond)
	}
	a.say("three.")
	a.whole()
	a.end()
}

func (s *kernelServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

func (a *flowActor) aborted() {
	a.emit(object{"type": "agent:aborted", "reason": "stopped"})
	a.s.emit(object{"type": "flow:aborted"})
}

func (a *flowActor) end() {
	a.whole()
	a.emit(object{"type": "agent:complete", "result": "done", "usage": object{"inputTokens": 3, "outputTokens": 4}, "durationMs": 1, "numTurns": 1})
	a.emit(object{"type": "node:complete", "output": object{"text": "done"}})
	a.s.emit(object{"type": "flow:complete", "flowName": "demo", "status": "complete"})
}
