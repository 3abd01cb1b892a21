package gateway_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// pipes is a gateway whose connections are pipes without any buffer, and whose
// time is not real: a client that does not read is stuck at once.
type pipes struct {
	t     *testing.T
	conns chan net.Conn
}

// newPipes must be called in a synctest bubble. The returned function ends it.
func newPipes(t *testing.T, change func(*session.Options), configure func(*gateway.Options)) (p *pipes, end func()) {
	t.Helper()
	handler, closeAll := newHandler(t, memlog.New(), change, configure)
	p = &pipes{t, make(chan net.Conn)}
	server := &http.Server{Handler: handler} //nolint:gosec // the server's own bounds are tested where they are set
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(p) }()
	return p, func() {
		closeAll()
		_ = server.Close()
		<-served
		time.Sleep(time.Second) // net/http lingers for half of it on what it has refused
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	conn, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p *pipes) Close() error {
	close(p.conns)
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{} }

// send connects and sends a request, and reads nothing.
func (p *pipes) send(request string) net.Conn {
	p.t.Helper()
	client, server := net.Pipe()
	p.conns <- server
	if _, err := io.WriteString(client, request); err != nil {
		p.t.Fatal(err)
	}
	return client
}

// ask sends a request and reads all of the answer.
func (p *pipes) ask(request string) (int, string) {
	p.t.Helper()
	conn := p.send(request)
	defer conn.Close()
	return read(p.t, conn)
}

func read(t *testing.T, conn net.Conn) (int, string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// metric reads a number of /metrics.
func (p *pipes) metric(name string) string {
	_, body := p.ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	_, rest, _ := strings.Cut(body, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// A hundred clients that stop reading hold nobody up, in their own session or in
// another, and their sockets are freed once a write has waited its while.
//
//evidence:for limit-write-time promise-slow-client
func TestStuckSocketsAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, func(o *session.Options) { slowly(o); o.OnDisconnect = session.Detach }, nil)
		defer end()
		first := p.send(post("/api/chat", submit("shared", "u1", "slow")))
		whole := make(chan string)
		go func() {
			body, _ := io.ReadAll(first)
			whole <- string(body)
		}()
		synctest.Wait()
		stuck := make([]net.Conn, 100)
		for i := range stuck {
			stuck[i] = p.send("GET /api/chat/shared/stream HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		synctest.Wait()
		var others sync.WaitGroup
		for i := range 20 {
			others.Go(func() {
				if status, body := p.ask(post("/api/chat", submit(fmt.Sprint("other", i), "u1", "tool"))); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
					t.Errorf("another session: %d %s", status, body)
				}
			})
		}
		others.Wait()
		if n := p.metric("tributary_streams"); n != "101" {
			t.Errorf("%s streams are open: the stuck ones, and the one that reads", n)
		}
		time.Sleep(31 * time.Second)
		if n := p.metric("tributary_streams"); n != "0" {
			t.Errorf("%s streams are open long after the turn", n)
		}
		_ = first.Close()
		if body := <-whole; !strings.Contains(body, "data: [DONE]\n\n") || strings.Contains(body, `"error"`) {
			t.Errorf("who read beside the stuck ones got\n%s", body)
		}
		for _, conn := range stuck {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Error("a stuck socket is still open")
			}
			_ = conn.Close()
		}
	})
}

// A client that is gone without a word, while its stream has nothing to say, is
// noticed by the comments that keep the connection alive.
//
//evidence:for limit-keepalive promise-slow-client
func TestHalfOpenSocketsAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, func(o *session.Options) {
			o.OnDisconnect, o.Approval, o.HoldLimit = session.Detach, session.Hold, time.Hour
		}, nil)
		defer end()
		conn := p.send(post("/api/chat", submit("c1", "u1", "approve")))
		defer conn.Close()
		synctest.Wait() // there is a session now
		trace := p.send("GET /api/sessions/c1/trace HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
		defer trace.Close()
		for _, c := range []net.Conn{conn, trace} { // they read all that comes, and then no more
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if all, err := io.ReadAll(c); !isTimeout(err) || !bytes.Contains(all, []byte("text/event-stream")) {
				t.Fatalf("%v: %s", err, all)
			}
		}
		if n := p.metric("tributary_streams"); n != "1" {
			t.Fatalf("%s streams are open", n)
		}
		time.Sleep(46 * time.Second) // the longest silence, and one write
		if n := p.metric("tributary_streams"); n != "0" {
			t.Errorf("%s streams are open to clients that are gone", n)
		}
		for _, c := range []net.Conn{conn, trace} {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Error("the socket is still open")
			}
		}
	})
}

// Answers that are no stream have a bound too: a long answer without a reader is
// cut, and one that is read slowly is not.
//
//evidence:for limit-write-time promise-slow-client
func TestAnAnswerThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, nil)
		defer end()
		for i := range 3 {
			p.ask(post("/api/chat", submit("c1", fmt.Sprint("u", i), "big")))
		}
		for _, path := range []string{"/api/sessions/c1/messages", "/api/sessions/c1/trace"} {
			request := "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"
			conn := p.send(request)
			time.Sleep(31 * time.Second)
			if n, err := io.Copy(io.Discard, conn); err != nil || n != 0 {
				t.Errorf("%s: after the while %d bytes still come: %v", path, n, err)
			}
			_ = conn.Close()

			conn = p.send(request)
			var slow bytes.Buffer
			for buffer := make([]byte, 8<<10); ; time.Sleep(2 * time.Second) { // minutes in all
				n, err := conn.Read(buffer)
				if slow.Write(buffer[:n]); err != nil || bytes.HasSuffix(slow.Bytes(), []byte("\r\n0\r\n\r\n")) {
					break
				}
			}
			_ = conn.Close()
			if !bytes.HasSuffix(slow.Bytes(), []byte("\r\n0\r\n\r\n")) || slow.Len() < 600<<10 {
				t.Errorf("%s: a slow reader got %d bytes", path, slow.Len())
			}
		}
	})
}

// A body may take its time, but not for ever: a byte now and then is not enough.
//
//evidence:for limit-body-time
func TestABodyThatTrickles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, nil)
		defer end()
		conn := p.send("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		defer conn.Close()
		began := time.Now()
		var sender sync.WaitGroup
		defer sender.Wait()
		sender.Go(func() {
			for err := error(nil); err == nil; time.Sleep(20 * time.Second) {
				_, err = io.WriteString(conn, " ")
			}
		})
		status, body := read(t, conn)
		if took := time.Since(began); status != http.StatusRequestTimeout || took > 40*time.Second {
			t.Errorf("%d after %s: %s", status, took, body)
		}
	})
}

// Uploads that are large and slow are in nobody's way, not even their own principal's,
// as long as they hold little.
//
//evidence:for limit-uploads
func TestSlowUploadsShutOutNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, nil)
		defer end()
		const size = 2 << 20
		half := `{"padding":"` + strings.Repeat("x", size/2)
		var slow []net.Conn
		for range 10 {
			conn := p.send(fmt.Sprintf("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size))
			go func() { _, _ = io.WriteString(conn, half) }()
			slow = append(slow, conn)
		}
		synctest.Wait()
		began := time.Now()
		large := `{"padding":"` + strings.Repeat("x", 4<<20) + `",` + submit("c1", "u1", "hello")[1:]
		conn := p.send(fmt.Sprintf("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(large)))
		go func() { _, _ = io.WriteString(conn, large) }()
		if status, body := read(t, conn); status != http.StatusOK || time.Since(began) > 10*time.Second {
			t.Errorf("one that is not slow: %d after %s: %.200s", status, time.Since(began), body)
		}
		_ = conn.Close()
		for i, conn := range slow {
			body := `",` + submit("c2", fmt.Sprint("u", i), "hello")[1:]
			rest := strings.Repeat("x", size-len(half)-len(body)) + body
			go func() { _, _ = io.WriteString(conn, rest) }()
			if status, body := read(t, conn); status != http.StatusOK {
				t.Errorf("a slow one: %d %.200s", status, body)
			}
			_ = conn.Close()
		}
	})
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
