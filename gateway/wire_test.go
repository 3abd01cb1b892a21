package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// dial speaks HTTP by hand.
func (s stand) dial(request string) (net.Conn, *bufio.Reader) {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		s.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

//evidence:for limit-body-time
func TestABodyThatStops(t *testing.T) {
	s := newStandOn(t, memlog.New(), nil, func(o *gateway.Options) { o.Read = 300 * time.Millisecond })
	for name, request := range map[string]string{
		"chat":    "POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"id\":",
		"chunked": "POST /api/chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n",
		"stop":    "POST /api/chat/x/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			_, in := s.dial(request)
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), "did not arrive") {
				t.Errorf("%d %s", res.StatusCode, body)
			}
		})
	}
}

// Malformed chunks are a mistake of the sender, on every route.
func TestChunksThatCannotBeRead(t *testing.T) {
	var log strings.Builder
	s := newStandOn(t, memlog.New(), nil, func(o *gateway.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	for _, path := range []string{"/api/chat", "/api/chat/c1/stop", "/api/sessions/c1/stop", "/api/chat/none/stop", "/api/sessions"} {
		for name, chunk := range map[string]string{
			"negative": "-1\r\n", "17 digits": strings.Repeat("1", 17) + "\r\n{}", "long extension": "2;" + strings.Repeat("x", 100_000) + "\r\n{}\r\n0\r\n\r\n", "no number": "{}\r\n",
		} {
			_, in := s.dial("POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("%s %s: %v", path, name, err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "The request body cannot be read: its chunks are malformed.") {
				t.Errorf("%s, %s: %d %s", path, name, res.StatusCode, body)
			}
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log says %s", log.String())
	}
}

// The limit on a body's pace is not one on the stream that answers it.
func TestABodysPaceDoesNotEndItsStream(t *testing.T) {
	s := newStand(t, func(o *session.Options) {
		a := o.Agents["demo"]
		a.Runtime = demo.Runtime{Pace: 2 * time.Millisecond} // a second in all
		o.Agents["demo"] = a
	})
	if status, _, body := s.do("POST", "/api/chat", submit("c1", "u1", "slow")); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Contains(body, `"abort"`) {
		t.Errorf("%d %s", status, body)
	}
}

// A client that only asks whether there is a stream does not follow the turn.
func TestHeadOfAStream(t *testing.T) {
	s := newStand(t, slowly)
	_, in := s.dial("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(submit("c1", "u1", "slow"))) + "\r\n\r\n" + submit("c1", "u1", "slow"))
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/chat/c1/stream", "/api/sessions/c1/trace"} {
		if status, header, body := s.do("HEAD", path, "", "Accept", "text/event-stream"); status != 200 || body != "" || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s: %d %v %q", path, status, header, body)
		}
		if _, _, body := s.do("GET", "/api/sessions/c1", ""); !strings.Contains(body, `"running"`) {
			t.Errorf("HEAD %s took as long as the turn", path)
		}
	}
}

func TestLinkOfASessionWithASlash(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("a/b ü", "u1", "hello"))
	s.do("POST", "/api/chat", submit("a/b ü", "u2", "hello"))
	_, header, _ := s.do("GET", "/api/sessions/a%2Fb%20%C3%BC/messages?limit=1", "")
	path := strings.TrimPrefix(strings.Split(header.Get("Link"), ">")[0], "<")
	if status, _, body := s.do("GET", path, ""); status != 200 || !strings.Contains(body, `"u1"`) {
		t.Errorf("%s: %d %s", path, status, body)
	}
}

// Pipelined requests are answered one after another.
func TestPipelined(t *testing.T) {
	s := newStand(t, nil)
	post := submit("c1", "u1", "hello")
	_, in := s.dial("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(post)) + "\r\n\r\n" + post +
		"GET /api/chat/c1/stream HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	for i, want := range []string{"[DONE]", "[DONE]", "ok"} {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("answer %d: %d %v %s", i, res.StatusCode, err, body)
		}
	}
}

// Clients that do not read cost nobody else anything.
//
//evidence:for promise-slow-client
func TestStuckClientsHarmNobody(t *testing.T) {
	s := newStand(t, nil)
	post := submit("c1", "u1", "big")
	for range 20 {
		s.dial("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(post)) + "\r\n\r\n" + post)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if status, _, body := s.do("POST", "/api/chat", submit(fmt.Sprint("other", i), "u1", "hello")); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	all.Wait()
}

func TestManyFollowOneTurn(t *testing.T) {
	s := newStand(t, slowly)
	post := submit("c1", "u1", "think")
	_, in := s.dial("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(post)) + "\r\n\r\n" + post)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	bodies := make([]string, 200)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() { _, _, bodies[i] = s.do("GET", "/api/chat/c1/stream", "") })
	}
	all.Wait()
	for i, body := range bodies {
		if body != bodies[0] || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Fatalf("follower %d got\n%s\nand the first\n%s", i, body, bodies[0])
		}
	}
}
