//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// A toy that dies says so many words before, of which each takes its time to be read.
const (
	lastWords = 90
	slowWord  = "a slow word "
)

// feedServer speaks the toy protocol by HTTP: POST takes a message, GET /events tells messages,
// and GET /missed lists those that no stream has told.
type feedServer struct {
	mu      sync.Mutex
	streams map[chan message]context.CancelFunc
	mute    bool      // events go to nobody, only heartbeats do
	deaf    bool      // not even heartbeats
	missed  []message // told to nobody
	busy    bool
	posted  []string
	opened  int // streams so far
}

func newFeedServer() *feedServer { return &feedServer{streams: map[chan message]context.CancelFunc{}} }

// serveToy is the toy server as a program.
func serveToy(how string) int {
	switch how {
	case "broken":
		fmt.Fprintln(os.Stderr, "the config file is broken")
		return 3
	case "mute":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 2
	}
	fmt.Printf("the toy listens on http://%s\n", l.Addr())
	_ = http.Serve(l, newFeedServer()) //nolint:gosec // for tests
	return 0
}

func (s *feedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
			s.mu.Unlock() // the heartbeat needs it
			<-r.Context().Done()
			s.mu.Lock()
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
	if m.Prompt != "refuse" {
		w.WriteHeader(http.StatusNoContent)
	}
}

// cut breaks the streams, and goes on before they are opened again.
func (s *feedServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cut := range s.streams {
		cut()
	}
	clear(s.streams)
	s.tell(message{Say: "two"}, message{End: "done"})
}

// tell tells messages to the streams. The caller holds s.mu.
func (s *feedServer) tell(all ...message) {
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

func (s *feedServer) events(w http.ResponseWriter, r *http.Request) {
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

// message is what the toy server with a feed and its client say to each other.
type message struct {
	Prompt string `json:"prompt,omitempty"`
	Say    string `json:"say,omitempty"`
	Permit string `json:"permit,omitempty"`
	Answer string `json:"answer,omitempty"`
	Allow  bool   `json:"allow,omitempty"`
	Stop   bool   `json:"stop,omitempty"`
	End    string `json:"end,omitempty"`
}

func line(m message) json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// toyFeed is the protocol of a session with a toy server.
type toyFeed struct{ *remote.Session }

func (p *toyFeed) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.In || m.Channel == remote.Answer {
		c, err := remote.ParseCall(m.Data)
		if err != nil || c.Body == nil {
			return nil, err
		}
		m.Data = c.Body
	}
	if bytes.Contains(m.Data, []byte(slowWord)) {
		time.Sleep(time.Millisecond) // longer than the process lives
	}
	var l message
	if err := json.Unmarshal(m.Data, &l); err != nil {
		return nil, err
	}
	if l.Prompt != "" {
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: l.Prompt}}}})
	}
	b := t.Current()
	if l.Say != "" && b == nil {
		b = t.Begin(agent.TurnInfo{Reason: "background_task"})
	}
	switch {
	case b == nil:
	case l.Say != "":
		b.Message("", l.Say)
	case l.Permit != "":
		asked := agentkit.Permit(b, l.Permit, trace.PermissionRequest{RequestID: l.Permit}, trace.ToolCall{}, func(r trace.PermissionResponse) json.RawMessage {
			return remote.Post("/answer", message{Answer: l.Permit, Allow: r.Allowed()}).JSON()
		})
		return []agent.Effect{asked.Effect}, nil
	case l.End != "":
		b.End(trace.Stop{Reason: l.End, Outcome: trace.OutcomeCompleted})
	}
	return nil, nil
}

func (p *toyFeed) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	return remote.Post("/prompt", message{Prompt: prompt.Text()}), nil
}

func (p *toyFeed) Stop() (remote.Call, bool) { return remote.Post("/stop", message{Stop: true}), true }

func (p *toyFeed) GoOn(context.Context, remote.Break) (*remote.Call, error) { return nil, nil }

func (p *toyFeed) Place() string { return "toy-1" }

func (p *toyFeed) CatchUp(ctx context.Context) (bool, error) {
	var all missed
	if err := p.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/missed"}, &all); err != nil {
		return false, err
	}
	for _, m := range all.Messages {
		if err := p.Answered(remote.Call{Path: "/missed"}, line(m)); err != nil {
			return false, err
		}
	}
	return all.Idle, nil
}

// feeding describes the toy server at an address, or as a program of that kind.
func feeding(t *testing.T, url, how string) remote.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return remote.Spec{
		Name: "The toy", StopTime: time.Second,
		Feed: &remote.Feed{
			Server: &remote.Server{
				Adapter: "toy", URL: url, Command: exe, Env: []string{"TOY_AGENT=" + how, "GORACE=atexit_sleep_ms=0"},
				Listening: regexp.MustCompile(`listens on (\S+)`), StartTime: 10 * time.Second,
			},
			Path: "/events", CheckTime: 100 * time.Millisecond, Heartbeat: func(event []byte) bool { return string(event) == "{}" },
		},
		Greet: func(ctx context.Context, s *remote.Session) error {
			var hello message
			return s.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/hello"}, &hello)
		},
		New: func(s *remote.Session) remote.Protocol { return &toyFeed{s} },
	}
}

func openFeed(t *testing.T, host agent.Host, spec remote.Spec) agent.Session {
	t.Helper()
	s, err := remote.Open(t.Context(), host, agent.Config{}, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// turn is what became of a prompt.
type turn struct {
	said string
	stop trace.Stop
}

// prompt runs a turn to its end.
func prompt(ctx context.Context, t *testing.T, host *agenttest.Host, s agent.Session, text string) turn {
	t.Helper()
	p := agenttest.Prompt(text)
	r := host.Turn(p)
	if err := s.Prompt(ctx, p, r.Builder); err != nil {
		t.Fatal(err)
	}
	verdict, ok := r.Result()
	if !ok {
		t.Fatal("the turn has no end")
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	return turn{strings.TrimSpace(agenttest.Said(r.Events())), agenttest.Each[trace.Stop](r.Events())[0]}
}

// attached is a toy server that runs already, and a session on it.
func attached(t *testing.T, host agent.Host) (*feedServer, *agenttest.ShakyServer, agent.Session) {
	t.Helper()
	toy := newFeedServer()
	server := agenttest.NewShakyServer(t, toy)
	return toy, server, openFeed(t, host, feeding(t, server.URL, ""))
}

// did reports whether the server got a POST to a path.
func (s *feedServer) did(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.posted, " ")+" ", path+" ")
}

// untilOpened waits until the stream was opened so often.
func (s *feedServer) untilOpened(t *testing.T, n int) {
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
