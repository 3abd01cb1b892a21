package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
)

// limited is a stand with limits.
func limited(t *testing.T, l limit.Options, change func(*session.Options)) stand {
	t.Helper()
	handler, closeAll := newHandler(t, memlog.New(), change, func(o *gateway.Options) { o.Limits = l })
	return serveStand(t, handler, closeAll)
}

// refused checks an answer of 429: when to come back, and one sentence, as the
// route says it.
func refused(t *testing.T, name, path string, status int, header http.Header, body, code, want string) {
	t.Helper()
	kind := "application/json"
	if strings.HasPrefix(path, "/api/chat") {
		kind, code = "text/plain", ""
	}
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" || header.Get("Retry-After") == "0" ||
		!strings.HasPrefix(header.Get("Content-Type"), kind) || !strings.Contains(body, want) || !strings.Contains(body, code) {
		t.Errorf("%s: %d %v %s", name, status, header, body)
	}
}

//evidence:for limit-burst limit-requests
func TestRequestsOfOnePrincipal(t *testing.T) {
	s := limited(t, limit.Options{Requests: 1, Burst: 5}, nil)
	paths := []string{"/api/sessions", "/api/chat/x/stream", "/metrics", "/api/nope", "/api/agents"}
	for _, path := range paths {
		if status, _, body := s.do("GET", path, ""); status == http.StatusTooManyRequests {
			t.Fatalf("%s: %s", path, body)
		}
	}
	for _, path := range paths {
		status, header, body := s.do("GET", path, "")
		refused(t, path, path, status, header, body, "too_many_requests", "These are too many requests: send at most 1 a second, and try again in a moment.")
		if after := header.Get("Retry-After"); after != "1" {
			t.Errorf("%s: to come back after %s s", path, after)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions", "", "X-Test-Principal", "bob"); status != 200 {
		t.Errorf("somebody else: %d %s", status, body)
	}
	if status, _, body := s.do("GET", "/healthz", ""); status != 200 {
		t.Errorf("health: %d %s", status, body)
	}
}

//evidence:for limit-requests
func TestNoLimitOfRequests(t *testing.T) {
	for _, l := range []limit.Options{{Requests: -1, Burst: 1}, {Requests: 1, Burst: -1}} {
		s := limited(t, l, nil)
		for range 20 {
			if status, _, body := s.do("GET", "/api/agents", ""); status != 200 {
				t.Fatalf("%+v: %d %s", l, status, body)
			}
		}
	}
}

// open begins a stream and returns when its first line has come.
func (s stand) open(method, path, body string, header ...string) (leave func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || res.StatusCode != 200 {
		s.t.Fatalf("%s %s: %s, %v", method, path, res.Status, err)
	}
	return func() { cancel(); _ = res.Body.Close() }
}

// until asks until it gets the status, or much time has passed.
func (s stand) until(status int, method, path, body string, header ...string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		got, _, text := s.do(method, path, body, header...)
		if got == status {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s %s: %d %s, not %d", method, path, got, text, status)
		}
	}
}

//evidence:for limit-streams
func TestStreamsOfOnePrincipal(t *testing.T) {
	s := limited(t, limit.Options{Streams: 2}, func(o *session.Options) { slowly(o); o.OnDisconnect = session.Detach })
	leave := s.open("POST", "/api/chat", submit("c1", "u1", "slow"))
	defer s.open("GET", "/api/sessions/c1/trace", "", "Accept", "text/event-stream")()
	for path, method := range map[string]string{"/api/chat": "POST", "/api/chat/c1/stream": "GET", "/api/sessions/c1/trace": "GET"} {
		status, header, body := s.do(method, path, submit("c2", "u1", "hello"))
		refused(t, path, path, status, header, body, "too_many_streams", "You have 2 streams open, which is the most that may be: close some, and try again.")
	}
	if status, _, body := s.do("GET", "/api/sessions/c2", ""); status != 404 {
		t.Errorf("a prompt that was refused made a session: %d %s", status, body)
	}
	defer s.open("GET", "/api/chat/c1/stream", "", "X-Test-Principal", "bob")()
	leave()
	s.until(200, "POST", "/api/chat", submit("c2", "u1", "hello"))
}

// The number of a session's followers is bounded over all users and routes; a
// client that prompts is admitted all the same.
//
//evidence:for limit-clients
func TestClientsOfOneSession(t *testing.T) {
	s := limited(t, limit.Options{Clients: 4}, func(o *session.Options) { slowly(o); o.OnDisconnect = session.Detach })
	defer s.open("POST", "/api/chat", submit("c1", "u1", "slow"))()
	paths := []string{"/api/chat/c1/stream", "/api/chat?client=6/c1/stream", "/api/sessions/c1/events", "/api/sessions/c1/trace"}
	const follows = "text/event-stream"
	leave := map[string]func(){}
	for i, path := range paths {
		leave[path] = s.open("GET", path, "", "X-Test-Principal", fmt.Sprint("bob", i), "Accept", follows)
	}
	full := func() {
		t.Helper()
		for _, path := range paths {
			status, header, body := s.do("GET", path, "", "Accept", follows)
			refused(t, path, path, status, header, body, "too_many_clients", "4 clients follow this session, which is the most that may: try again when one of them has left.")
		}
	}
	full()
	if status, _, body := s.do("GET", "/api/sessions/c1/trace", ""); status != 200 {
		t.Errorf("who reads the trace and does not follow it: %d %s", status, body)
	}
	defer s.open("POST", "/api/chat", submit("c1", "u2", "hello"), "X-Test-Principal", "dora")()
	defer s.open("POST", "/api/chat", submit("c2", "u1", "slow"))()
	defer s.open("GET", "/api/chat/c2/stream", "")()
	for _, path := range paths { // each leaves its place to one of its kind
		leave[path]()
		leave[path] = s.opened(path, follows)
		full()
	}
	for _, path := range paths {
		leave[path]()
	}
}

// opened follows a session as soon as there is a place.
func (s stand) opened(path, accept string) (leave func()) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		ctx, cancel := context.WithCancel(s.t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		leave := func() { cancel(); _ = res.Body.Close() }
		if res.StatusCode == http.StatusOK {
			return leave
		}
		leave()
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: who has left is still counted", path)
		}
	}
}

// The bounds of the hub as a client hears them.
//
//evidence:for limit-prompts limit-queue
func TestPromptsHaveABound(t *testing.T) {
	s := limited(t, limit.Options{}, func(o *session.Options) {
		slowly(o)
		o.OnDisconnect, o.MaxPrompts, o.MaxQueue = session.Detach, 3, 1
	})
	defer s.open("POST", "/api/chat", submit("c1", "u1", "slow"))()
	defer s.open("POST", "/api/chat", submit("c1", "u2", "slow"))()
	status, header, body := s.do("POST", "/api/chat", submit("c1", "u3", "slow"))
	refused(t, "queue", "/api/chat", status, header, body, "", "Too many prompts are waiting: wait until one of them has run, or remove one.")
	defer s.open("POST", "/api/chat", submit("c2", "u1", "slow"))()
	status, header, body = s.do("POST", "/api/chat", submit("c3", "u1", "slow"))
	refused(t, "prompts", "/api/chat", status, header, body, "", "Too many of your prompts run or wait: wait until one of them has ended.")
	if status, _, body := s.do("POST", "/api/chat", submit("c3", "u1", "hello"), "X-Test-Principal", "bob"); status != 200 {
		t.Errorf("somebody else: %d %s", status, body)
	}
}

// A turn that writes too much ends with a sentence that every client shows.
//
//evidence:for limit-turn-bytes
func TestATurnHasABound(t *testing.T) {
	s := limited(t, limit.Options{}, func(o *session.Options) { o.MaxTurnBytes = 64 << 10 })
	_, _, body := s.do("POST", "/api/chat", submit("c1", "u1", "big"))
	const want = "The agent has written 64 KB in this turn, which is the most that one may have, so the turn was ended: send a new message to go on."
	if !strings.Contains(body, want) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the stream is %s", body[max(0, len(body)-1000):])
	}
	if _, _, body := s.do("GET", "/api/sessions/c1/messages", ""); !strings.Contains(body, want) {
		t.Error("history does not say why the turn was ended")
	}
}

// 10,000 page loads of a stock client without an id ask for streams of chats that
// were never begun: none of them is a session.
//
//evidence:for limit-sessions
func TestReloadsMakeNoSessions(t *testing.T) {
	s := limited(t, limit.Options{Requests: -1}, nil)
	for i := range 2000 {
		if status, _, body := s.do("GET", fmt.Sprintf("/api/chat/random%d/stream", i), ""); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
	}
	if _, _, body := s.do("GET", "/api/sessions", ""); body != "{\"sessions\":[]}\n" {
		t.Errorf("there are sessions: %.200s", body)
	}
}
