package agentops_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/session"
)

// refusedSocket is the status of a socket that is not opened.
func (s stand) refusedSocket(path string, header ...string) int {
	s.t.Helper()
	conn, res, err := s.socket(path, &websocket.DialOptions{HTTPHeader: headers(header)})
	if err == nil {
		_ = conn.CloseNow()
		return http.StatusSwitchingProtocols
	}
	if res == nil {
		s.t.Fatal(err)
	}
	return res.StatusCode
}

func TestB07_SocketsOfPrivateSessions(t *testing.T) {
	s := newStand(t, nil, privately)
	const path = "/api/sessions/s/ws?role=client"
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 201},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/carl", `{"role":"collaborator"}`, 200},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, 200},
	})
	if status := s.refusedSocket(path, as("bob", "collaborator")...); status != 404 {
		t.Errorf("a stranger: %d", status)
	}
	vera := s.join(path, as("vera", "collaborator")...)
	vera.prompt("hello")
	if no := frame[wire.Error](vera, nil); no.Message != "Your role is viewer; this needs collaborator." {
		t.Errorf("%+v", no)
	}
	carl := s.join(path, as("carl", "viewer")...)
	carl.prompt("hello")
	frame(carl, finished)
	// A removed member may not go on by an open socket.
	s.all([]asked{{"ada", "collaborator", "DELETE", "/api/sessions/s/members/carl", "", 200}})
	for _, text := range []string{`{"type":"prompt","content":"hello"}`, `{"type":"abort"}`, `{"type":"approve-action","invocationId":"x"}`} {
		carl.send(text)
		if no := frame[wire.Error](carl, nil); no.Message != "There is no such session." {
			t.Errorf("%s: %+v", text, no)
		}
	}
}

// A socket that ends with its token stops nothing, even where a disconnect does at once.
func TestB05_ExpiryOfASocketStopsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, func(o *session.Options) {
			a := o.Agents["demo"]
			a.Runtime = demo.Runtime{Pace: 4 * time.Millisecond} // two seconds of talk
			o.Agents["demo"], o.OnDisconnect = a, session.Stop
		}, expiringAt(func() time.Time { return time.Now().Add(time.Second) }))
		defer end()
		p.ask(post("/api/sessions", `{"id":"s"}`))
		from := time.Now()
		c := p.join("/api/sessions/s/ws?role=client")
		c.prompt("slow")
		no := frame[wire.Error](c, nil)
		if past := time.Since(from); past != time.Second || !strings.HasPrefix(no.Message, "Your sign-in has expired") {
			t.Errorf("after %s %+v", past, no)
		}
		c.sentAway()
		synctest.Wait()
		if status, body := p.ask("GET /api/chat/s/stream HTTP/1.1\r\nHost: x\r\n\r\n"); status != 200 || !strings.Contains(body, `"type":"finish"`) || strings.Contains(body, `"abort"`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

// Nor does the socket of who may look no more.
func TestB07_WhoIsPutOutStopsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, func(o *session.Options) {
			a := o.Agents["demo"]
			a.Runtime = demo.Runtime{Pace: 200 * time.Millisecond} // more than a minute of talk
			o.Agents["demo"], o.OnDisconnect = a, session.Stop
		}, privately)
		defer end()
		p.ask(post("/api/sessions", `{"id":"s"}`))
		const bob = "/api/sessions/s/members/bob HTTP/1.1\r\nHost: x\r\n"
		p.ask("PUT " + bob + "Content-Length: 23\r\n\r\n" + `{"role":"collaborator"}`)
		from := time.Now()
		c := p.join("/api/sessions/s/ws?role=client", as("bob", "viewer")...)
		c.prompt("slow")
		frame[wire.Chunk](c, nil)
		p.ask("DELETE " + bob + "\r\n")
		if no := frame[wire.Error](c, nil); no.Message != "This session is not yours any more." || time.Since(from) != 30*time.Second {
			t.Errorf("after %s %+v", time.Since(from), no)
		}
		c.sentAway()
		synctest.Wait()
		if status, body := p.ask("GET /api/chat/s/stream HTTP/1.1\r\nHost: x\r\n\r\n"); status != 200 || !strings.Contains(body, `"type":"finish"`) || strings.Contains(body, `"abort"`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

// sentAway reads to the end of a socket: what was on its way comes first.
func (c *agentopsClient) sentAway() {
	c.t.Helper()
	for {
		if _, err := c.next(); err != nil {
			if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
				c.t.Errorf("the socket ended with %v", err)
			}
			return
		}
	}
}
