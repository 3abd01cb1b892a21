package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// TestMain lets the test binary stand in for a server with a feed.
func TestMain(m *testing.M) {
	agenttest.Fake("TOY_AGENT", serveToy)
	goleak.VerifyTestMain(m)
}

// event is what the toy server says: a word, what it asks, or the end of the turn.
type event struct {
	Say string   `json:"say,omitempty"`
	Ask []string `json:"ask,omitempty"`
	End string   `json:"end,omitempty"`
}

// order is a request to the toy server.
type order struct {
	Prompt  string            `json:"prompt,omitempty"`
	Answers map[string]string `json:"answers,omitempty"`
	// Left is a note: an earlier process began the turn, and asked this.
	Left *[]string `json:"left,omitempty"`
}

// toy is the protocol of the toy server.
type toy struct {
	*remote.Session
	remote.Asking
	noStop bool
	ended  func()                               // called at the end of each stream, unless it is nil
	asks   func(m agent.Message, t agent.Turns) // called with each request to the server, unless it is nil
}

func (d *toy) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.In && d.asks != nil {
		d.asks(m, t)
	}
	return d.Asking.Decode(m, t, d)
}

func (d *toy) Request(c remote.Call, t agent.Turns) ([]agent.Effect, error) {
	var o order
	_ = json.Unmarshal(c.Body, &o)
	if o.Prompt != "" || o.Left != nil {
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: o.Prompt}}}})
	}
	if o.Left != nil {
		return d.ask(t.Current(), *o.Left...), nil
	}
	return nil, nil
}

func (d *toy) Hear(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Channel == remote.Ended && d.ended != nil {
		d.ended()
	}
	var e event
	b := t.Current()
	if err := json.Unmarshal(m.Data, &e); err != nil || b == nil {
		return nil, err
	}
	switch {
	case e.Say != "":
		b.MessageDelta("text", e.Say)
	case e.Ask != nil:
		return d.ask(b, e.Ask...), nil
	case e.End == "stopped":
		b.End(trace.Stop{Reason: e.End, Outcome: trace.OutcomeCanceled})
	case e.End != "":
		b.End(trace.Stop{Reason: e.End, Outcome: trace.OutcomeCompleted})
	}
	return nil, nil
}

// ask asks for permissions, whose names begin with may, and questions.
func (d *toy) ask(b *trace.Builder, all ...string) []agent.Effect {
	var permits []trace.PermissionCheck
	var questions []trace.Question
	for _, name := range all {
		if strings.HasPrefix(name, "may") {
			permits = append(permits, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: name, Title: name, Options: []trace.PermissionOption{{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}}}})
		} else {
			questions = append(questions, trace.Question{QuestionID: name, Text: name + "?"})
		}
	}
	return append(d.Permissions(b, permits...), d.Questions(b, questions...)...)
}

// Next tells the server all answers.
func (d *toy) Next(b *trace.Builder, r remote.Replies) *remote.Call {
	all := map[string]string{}
	for id, p := range r.Permissions {
		all[id] = p.ChosenOption
	}
	for id, a := range r.Answers {
		if all[id] = strings.Join(a.Values, ""); all[id] == "quit" {
			b.End(trace.Stop{Reason: "quit", Outcome: trace.OutcomeCanceled})
			return nil
		}
	}
	c := remote.Post("/run", order{Answers: all})
	c.Stream = true
	return &c
}

func (d *toy) Run(_ context.Context, p agent.Prompt) (remote.Call, error) {
	c := remote.Post("/run", order{Prompt: p.Text()})
	c.Stream = true
	return c, nil
}

func (d *toy) Stop() (remote.Call, bool) { return remote.Post("/stop", nil), !d.noStop }

func (d *toy) GoOn(_ context.Context, b remote.Break) (*remote.Call, error) {
	if b.LastID == "" {
		return nil, errors.New("the stream has no place to go on from")
	}
	return &remote.Call{Method: "GET", Path: "/join", Header: map[string]string{"Last-Event-ID": b.LastID}, Stream: true}, nil
}

func (d *toy) Reattach(_ context.Context, left agent.OpenTurn) (*remote.Call, error) {
	asked := []string{}
	for _, r := range left.Records {
		switch p := r.Payload.(type) {
		case trace.PermissionRequest:
			asked = append(asked, p.Title)
		case trace.Question:
			asked = append(asked, strings.TrimSuffix(p.Text, "?"))
		}
	}
	if err := d.Sent(agent.Message{Dir: agent.In, Data: remote.Note(order{Left: &asked})}); err != nil || len(asked) > 0 {
		return nil, err
	}
	return &remote.Call{Method: "GET", Path: "/join", Header: map[string]string{"Last-Event-ID": "1"}, Stream: true}, nil
}

// server is the toy server.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	joins    int
	stop     chan struct{}
	more     chan struct{} // goes on with "ask one by one"
	deaf     int           // so many stops fail
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{stop: make(chan struct{}), more: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run", s.run)
	mux.HandleFunc("GET /join", s.join)
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, r *http.Request) {
		s.note(r, "")
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.deaf--; s.deaf >= 0 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		close(s.stop)
		s.stop = make(chan struct{})
		w.WriteHeader(http.StatusAccepted)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *server) note(r *http.Request, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.URL.Path, what, r.Header.Get("Last-Event-ID"), r.Header.Get("Authorization"))))
}

// did reports how often the server got a request that begins like this.
func (s *server) did(like string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.HasPrefix(r, like) {
			n++
		}
	}
	return n
}

func (s *server) run(w http.ResponseWriter, r *http.Request) {
	var o order
	_ = json.NewDecoder(r.Body).Decode(&o)
	s.note(r, o.Prompt)
	if o.Answers != nil {
		say(w, "", event{Say: fmt.Sprint(o.Answers)}, event{End: "answered"})
		return
	}
	switch o.Prompt {
	case "refuse":
		http.Error(w, `{"message":"not today"}`, http.StatusConflict)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>"))
	case "cut", "lost", "far", "again":
		say(w, map[string]string{"cut": "1", "far": "2", "again": "3"}[o.Prompt], event{Say: "one "})
		panic(http.ErrAbortHandler)
	case "slow", "leave":
		s.mu.Lock()
		stop := s.stop
		s.mu.Unlock()
		say(w, "1", event{Say: "one "})
		select {
		case <-stop:
			say(w, "", event{End: "stopped"})
		case <-r.Context().Done():
		}
	case "ask":
		say(w, "", event{Ask: []string{"colour"}}, event{Ask: []string{"may paint", "size"}}, event{Ask: []string{"colour"}})
	case "ask one by one":
		say(w, "", event{Ask: []string{"colour"}})
		<-s.more
		say(w, "", event{Ask: []string{"may paint", "size"}})
	case "ask, and break off":
		say(w, "ask", event{Ask: []string{"colour"}})
		panic(http.ErrAbortHandler)
	case "words":
		sayWords(w, 0)
	case "lines", "lines of words":
		w.Header().Set("Content-Type", "application/x-ndjson")
		if o.Prompt == "lines" {
			_, _ = w.Write([]byte("{\"say\":\"by line\"}\n\n{\"end\":\"done\"}"))
			return
		}
		for _, line := range []string{`{"say":"one "}`, `{"say":"two"}`, `{"end":"done"}`} {
			_, _ = w.Write([]byte(line + "\n"))
			_ = http.NewResponseController(w).Flush()
		}
	default:
		say(w, "", event{Say: "You said: " + o.Prompt}, event{End: "done"})
	}
}

func (s *server) join(w http.ResponseWriter, r *http.Request) {
	s.note(r, "")
	s.mu.Lock()
	s.joins++
	n := s.joins
	s.mu.Unlock()
	var word int
	switch read, _ := fmt.Sscanf(r.Header.Get("Last-Event-ID"), "word-%d", &word); {
	case read == 1:
		sayWords(w, word)
	case r.Header.Get("Last-Event-ID") == "ask":
		time.Sleep(20 * time.Millisecond) // the answer is there before the run is over
		s.note(r, "ended")
		say(w, "ask", event{Ask: []string{"colour"}})
	case r.Header.Get("Last-Event-ID") == "2" && n < 3:
		http.Error(w, "restarting", http.StatusBadGateway)
	case r.Header.Get("Last-Event-ID") == "3":
		say(w, "3", event{Say: "one "}, event{Say: "and "}) // the event of that id again, and another one
		say(w, "4", event{Say: "two"}, event{End: "done"})
	default:
		say(w, "", event{Say: "two"}, event{End: "done"})
	}
}

// sayWords says what comes after a word.
func sayWords(w http.ResponseWriter, after int) {
	for n, e := range []event{{Say: "one "}, {Say: "two"}, {End: "done"}} {
		if n >= after {
			say(w, fmt.Sprintf("word-%d", n+1), e)
		}
	}
}

func say(w http.ResponseWriter, id string, all ...event) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range all {
		data, _ := json.Marshal(e)
		if id != "" {
			fmt.Fprintf(w, "id: %s\n", id)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	_ = http.NewResponseController(w).Flush()
}

// open opens a session with the toy.
func open(t *testing.T, srv *server, host *agenttest.Host, change func(*remote.Spec, *toy)) *remote.Session {
	t.Helper()
	r := toyRuntime{srv.URL, change}
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*remote.Session) //nolint:forcetypeassert // of this file
}

// toyRuntime opens sessions with the toy.
type toyRuntime struct {
	url    string
	change func(*remote.Spec, *toy)
}

func (r toyRuntime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	client, err := httpjson.New(httpjson.Config{URL: r.url, Bearer: "the-gateway"})
	if err != nil {
		return nil, err
	}
	d := &toy{}
	spec := remote.Spec{Name: "The toy", Transport: remote.HTTP{Client: client, PassCaller: true, Lines: true}, StopTime: 3 * time.Second}
	spec.New = func(s *remote.Session) remote.Protocol { d.Session = s; return d }
	if r.change != nil {
		r.change(&spec, d)
	}
	return remote.Open(ctx, host, cfg, spec)
}
