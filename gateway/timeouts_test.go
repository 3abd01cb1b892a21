package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

const (
	ownersToken = "0123456789abcdef0123456789abcdef"
	withToken   = "\r\nHost: localhost\r\nAuthorization: Bearer " + ownersToken
)

// guarded puts a real guard before the gateway, and a page behind it.
func guarded(t *testing.T) func(*gateway.Options) {
	t.Helper()
	guard, err := access.New(access.Config{
		Listen: "127.0.0.1:1", Tokens: []access.Token{{Name: "ada", Token: ownersToken, Role: access.Admin}},
		Public: gateway.Public, Refuse: gateway.Refuse,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *gateway.Options) {
		o.Guard = guard.Wrap
		o.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") })
	}
}

// unread are requests whose body no handler reads, by what they get.
var unread = map[string]int{ //nolint:gochecknoglobals // a constant in all but name
	"POST /api/chat HTTP/1.1\r\nHost: localhost":                                                                            401,
	"POST /api/chat HTTP/1.1\r\nHost: elsewhere.example":                                                                    403,
	"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nOrigin: https://elsewhere.example":                                       403,
	"OPTIONS /api/chat HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\nAccess-Control-Request-Method: POST": 204,
	"GET /healthz HTTP/1.1\r\nHost: localhost":                                                                              200,
	"GET / HTTP/1.1\r\nHost: localhost":                                                                                     200,
	"GET /api/sessions HTTP/1.1" + withToken:                                                                                200,
	"DELETE /api/sessions/nope HTTP/1.1" + withToken:                                                                        404,
	"POST /api/nope HTTP/1.1" + withToken:                                                                                   404,
	"POST /api/chat?client=4 HTTP/1.1" + withToken:                                                                          400,
}

// A body that never comes, and that no handler waits for, has the same while as
// any other: then there is the answer, and the connection goes.
//
//evidence:for limit-unread-body promise-slow-client
func TestABodyThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, guarded(t))
		defer end()
		for request, want := range unread {
			for body, wait := range map[string]time.Duration{
				"\r\nContent-Length: 10\r\n\r\n":                         30 * time.Second,
				"\r\nContent-Length: 10\r\n\r\nhalf":                     30 * time.Second,
				"\r\nTransfer-Encoding: chunked\r\n\r\n":                 30 * time.Second,
				"\r\nContent-Length: 1000000\r\n\r\n":                    0, // more than the server would read
				"\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n": 0, // its sender waits for the answer
			} {
				conn := p.send(request + body)
				began := time.Now()
				in := bufio.NewReader(conn)
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s: no answer: %v", request+body, err)
				}
				if took := time.Since(began); res.StatusCode != want || took != wait {
					t.Errorf("%s: %s after %s", request+body, res.Status, took)
				}
				if _, err := io.Copy(io.Discard, in); err != nil || time.Since(began) > 31*time.Second {
					t.Errorf("%s: open for %s: %v", request+body, time.Since(began), err)
				}
				_ = conn.Close()
			}
		}
	})
}

// A body that comes is read away, at once, and the next request follows on the same
// connection, also if it is there already.
//
//evidence:for limit-unread-body
func TestABodyThatNobodyReadsAndComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, guarded(t))
		defer end()
		conn := p.send("")
		defer conn.Close()
		in := bufio.NewReader(conn)
		began := time.Now()
		get := func(want int) {
			t.Helper()
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != want || res.Close {
				t.Errorf("%s, closed %v, not %d: %v", res.Status, res.Close, want, err)
			}
		}
		for request, want := range unread {
			if request = strings.Replace(request, "OPTIONS ", "POST ", 1); want == http.StatusNoContent {
				want = http.StatusUnauthorized // ReadResponse wants to know the method
			}
			both := request + "\r\nContent-Length: 5\r\n\r\nhello" + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
			go func() { _, _ = io.WriteString(conn, both) }()
			get(want)
			get(http.StatusOK)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
		time.Sleep(time.Minute) // and the while of none of them ends the next
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		get(http.StatusOK)
	})
}

// The time limit of a body does not hold for the response: a stream goes on long
// after it, whether a handler has read the body or not.
//
//evidence:for limit-unread-body
func TestAStreamOutlivesItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, func(o *session.Options) { o.Approval, o.HoldLimit, o.AnswerLimit = session.Hold, time.Hour, time.Hour }, guarded(t))
		defer end()
		prompt := submit("c1", "u1", "approve")
		streams := map[string]net.Conn{}
		for _, request := range []string{
			fmt.Sprintf("POST /api/chat HTTP/1.1%s\r\nContent-Length: %d\r\n\r\n%s", withToken, len(prompt), prompt),
			fmt.Sprintf("POST /api/sessions/c1/chat HTTP/1.1%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", withToken, len(prompt), prompt),
			"GET /api/sessions/c1/events HTTP/1.1" + withToken + "\r\nContent-Length: 2\r\n\r\n{}",
			"GET /api/chat/c1/stream HTTP/1.1" + withToken + "\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		} {
			streams[request] = p.send(request)
			synctest.Wait()
		}
		for request, conn := range streams {
			go func() {
				_ = conn.SetReadDeadline(time.Now().Add(10 * time.Minute))
				if all, err := io.ReadAll(conn); !isTimeout(err) {
					t.Errorf("%.40s: cut after %d bytes: %v\n%s", request, len(all), err, all)
				}
			}()
		}
		time.Sleep(9 * time.Minute)
		for _, conn := range streams {
			defer conn.Close()
		}
		time.Sleep(2 * time.Minute)
	})
}

// A client that takes no answers is cut, whether the guard answers or the server
// that ends a stream.
//
//evidence:for limit-write-time
func TestAnAnswerOfTheGuardThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, guarded(t))
		defer end()
		for request := range unread {
			conn := p.send(request + "\r\n\r\n")
			time.Sleep(31 * time.Second)
			if n, err := io.Copy(io.Discard, conn); err != nil || n != 0 {
				t.Errorf("%s: after the while %d bytes still come: %v", request, n, err)
			}
			_ = conn.Close()
		}
		prompt := submit("c1", "u1", "hello")
		conn := p.send(fmt.Sprintf("POST /api/chat HTTP/1.1%s\r\nContent-Length: %d\r\n\r\n%s", withToken, len(prompt), prompt))
		defer conn.Close()
		for in := bufio.NewReaderSize(conn, 16); ; {
			if line, err := in.ReadString('\n'); err != nil || strings.Contains(line, "[DONE]") {
				break
			}
		}
		time.Sleep(31 * time.Second)
		if rest, err := io.ReadAll(conn); err != nil || strings.HasSuffix(string(rest), "0\r\n\r\n") {
			t.Errorf("the stream's end still comes after the while: %q %v", rest, err)
		}
	})
}
