//go:build unix

package agentkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// A toy that dies says so many words before, of which each takes its time to be read.
const (
	lastWords = 90
	slowWord  = "a slow word "
)

// toyServer speaks the toy protocol by HTTP: POST takes a message, GET /events tells messages,
// and GET /missed lists those that no stream has told.
type toyServer struct {
	mu      sync.Mutex
	streams map[chan message]context.CancelFunc
	mute    bool      // events go to nobody, only heartbeats do
	deaf    bool      // not even heartbeats
	missed  []message // told to nobody
	busy    bool
	posted  []string
	opened  int // streams so far
}

func newToyServer() *toyServer { return &toyServer{streams: map[chan message]context.CancelFunc{}} }

// serveToy is the toy server as a program.
func serveToy() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 2
	}
	fmt.Printf("the toy listens on http://%s\n", l.Addr())
	_ = http.Serve(l, newToyServer()) //nolint:gosec // for tests
	return 0
}

func (s *toyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + r.URL.Path {
	case "GET/events":
		s.events(w, r)
		return
	case "GET/hello":
		_, _ = w.Write([]byte(`{"hello":true}`))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/missed" {
		_ = json.NewEncoder(w).Encode(missed{Idle: !s.busy, Messages: s.missed})
		s.missed = nil
		return
	}
	var m message
	_ = json.NewDecoder(r.Body).Decode(&m)
	s.posted = append(s.posted, r.URL.Path)
	switch {
	case m.Prompt == "refuse":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"message":"not today"}`))
	case m.Prompt == "die":
		time.AfterFunc(50*time.Millisecond, func() {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(9)
		})
	case strings.HasPrefix(m.Prompt, "many words and die"):
		for i := range lastWords {
			s.tell(message{Say: fmt.Sprint(slowWord, i, strings.Repeat(" x", 500))})
		}
		s.tell(message{End: "exit"})
		if strings.HasSuffix(m.Prompt, "without an answer") {
			<-r.Context().Done()
		}
	case m.Prompt == "forget":
		s.mute = true
	case m.Prompt == "mute", m.Prompt == "deaf":
		s.mute, s.deaf = true, m.Prompt == "deaf"
		s.tell(message{Say: "told to nobody"}, message{End: "done"})
	case m.Prompt == "cut":
		s.tell(message{Say: "one"})
		time.AfterFunc(50*time.Millisecond, s.cut)
	case m.Prompt == "wait":
		s.busy = true
		s.tell(message{Say: "working"})
	case m.Prompt == "wait without an answer":
		s.busy = true
		s.tell(message{Say: "working"})
		<-r.Context().Done() // the test cuts the connection
		panic(http.ErrAbortHandler)
	case m.Prompt == "permit":
		s.tell(message{Permit: "p1"})
	case m.Prompt != "":
		s.tell(message{Say: "You said: " + m.Prompt}, message{End: "done"})
	case m.Answer != "":
		s.tell(message{Say: fmt.Sprintf("%s: %v", m.Answer, m.Allow)}, message{End: "answered"})
	case m.Stop:
		s.tell(message{End: "stopped by the toy"})
	}
}

// cut breaks the streams, and goes on before they are opened again.
func (s *toyServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cut := range s.streams {
		cut()
	}
	clear(s.streams)
	s.tell(message{Say: "two"}, message{End: "done"})
}

// tell tells messages to the streams. The caller holds s.mu.
func (s *toyServer) tell(all ...message) {
	if s.mute || len(s.streams) == 0 {
		s.missed = append(s.missed, all...)
		return
	}
	for events := range s.streams {
		for _, m := range all {
			events <- m
		}
	}
}

func (s *toyServer) events(w http.ResponseWriter, r *http.Request) {
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	events := make(chan message, 100)
	s.mu.Lock()
	s.streams[events] = cut
	s.opened++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	beat := time.NewTicker(20 * time.Millisecond)
	defer beat.Stop()
	for {
		var m message
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ctx.Done():
			return
		case m = <-events:
			if m.End == "exit" {
				os.Exit(9)
			}
		case <-beat.C:
			s.mu.Lock()
			deaf := s.deaf
			s.mu.Unlock()
			if deaf {
				continue
			}
		}
		fmt.Fprintf(w, "data: %s\n\n", line(m))
	}
}

// missed is the answer to GET /missed.
type missed struct {
	Idle     bool
	Messages []message
}

// toyRemote is the protocol of a session with a toy server.
type toyRemote struct {
	toy
	remote *agentkit.Remote
}

func (p *toyRemote) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Channel != agentkit.Events {
		var c agentkit.Call
		if err := json.Unmarshal(m.Data, &c); err != nil || c.Body == nil {
			return nil, err
		}
		m.Data = c.Body
	}
	if bytes.Contains(m.Data, []byte(slowWord)) {
		time.Sleep(time.Millisecond) // longer than the process lives
	}
	effects, err := p.toy.Decode(m, t)
	for i, e := range effects {
		effects[i] = posting(e)
	}
	return effects, err
}

func (p *toyRemote) Greet(ctx context.Context) error {
	var hello message
	return p.remote.Fetch(ctx, http.MethodGet, "/hello", nil, &hello)
}

func (p *toyRemote) Prompt(prompt agent.Prompt) (agentkit.Call, error) {
	return agentkit.Post("/prompt", message{Prompt: prompt.Text()}), nil
}

func (p *toyRemote) Stop() agentkit.Call { return agentkit.Post("/stop", message{Stop: true}) }

func (p *toyRemote) Place() string { return "toy-1" }

func (p *toyRemote) CatchUp(ctx context.Context) (bool, error) {
	var all missed
	if err := p.remote.Fetch(ctx, http.MethodGet, "/missed", nil, &all); err != nil {
		return false, err
	}
	for _, m := range all.Messages {
		if err := p.remote.Answered("/missed", line(m)); err != nil {
			return false, err
		}
	}
	return all.Idle, nil
}

// posting makes the reply of a toy to a POST.
func posting(e agent.Effect) agent.Effect {
	p, ok := e.(agent.Permit)
	if !ok {
		return e
	}
	reply := p.Reply
	p.Reply = func(r trace.PermissionResponse) json.RawMessage {
		return agentkit.Post("/answer", reply(r)).JSON()
	}
	return p
}

// remote describes the toy server at an address, or as a program of that kind.
func remote(t *testing.T, url, how string) agentkit.RemoteSpec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agentkit.RemoteSpec{
		Name: "The toy", Stream: "/events", StopTime: time.Second, CheckTime: 100 * time.Millisecond,
		Server: agentkit.ServerSpec{
			Adapter: "toy", URL: url, Command: exe, Env: []string{"TOY_AGENT=" + how, "GORACE=atexit_sleep_ms=0"},
			Listening: regexp.MustCompile(`listens on (\S+)`), StartTime: 10 * time.Second,
		},
		Heartbeat: func(event []byte) bool { return string(event) == "{}" },
		New:       func(r *agentkit.Remote) agentkit.RemoteProtocol { return &toyRemote{remote: r} },
	}
}

func openRemote(t *testing.T, host agent.Host, spec agentkit.RemoteSpec) agent.Session {
	t.Helper()
	s, err := agentkit.OpenRemote(t.Context(), host, agent.Config{}, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// attached is a toy server that runs already, and a session on it.
func attached(t *testing.T, host agent.Host) (*toyServer, *agenttest.ShakyServer, agent.Session) {
	t.Helper()
	toy := newToyServer()
	server := agenttest.NewShakyServer(t, toy)
	return toy, server, openRemote(t, host, remote(t, server.URL, ""))
}

// did reports whether the server got a POST to a path.
func (s *toyServer) did(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.posted, " ")+" ", path+" ")
}

// untilOpened waits until the stream was opened so often.
func (s *toyServer) untilOpened(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		opened := s.opened
		s.mu.Unlock()
		if opened >= n {
			return
		}
	}
	t.Errorf("the stream was not opened %d times", n)
}
