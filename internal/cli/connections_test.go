package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection, sends words and returns a reader of the answers.
func (s *server) dial(words string) (net.Conn, *bufio.Reader) {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, words) // who is sent away at once cannot write
	return conn, bufio.NewReader(conn)
}

func answer(t *testing.T, r *bufio.Reader) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

const openPage = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// A client that comes when all connections are taken gets 503, and is served when
// one is free again.
//
//evidence:for limit-connections
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "limits: {connections: 3}")
	s := startServer(t, t.TempDir(), "--config", conf)
	var held []net.Conn
	for range 3 {
		conn, r := s.dial(openPage)
		if res, body := answer(t, r); res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", res.Status, body)
		}
		held = append(held, conn)
	}
	for path, kind := range map[string]string{"/api/sessions": "application/json", "/api/chat/x/stream": "text/plain"} {
		_, r := s.dial("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, body := answer(t, r)
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "5" || !res.Close ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), kind) || !strings.Contains(body, "Too many connections to the gateway are open: try again in a moment.") {
			t.Errorf("%s: %s %v %s", path, res.Status, res.Header, body)
		}
	}
	// A page elsewhere reads it too, and it counts; another host hears nothing of it.
	before := failed(t, s, held[0])
	const page = "\r\nHost: localhost\r\nOrigin: http://localhost:3000"
	for request, want := range map[string]int{
		"GET /api/sessions HTTP/1.1" + page: http.StatusServiceUnavailable,
		"GET /widget HTTP/1.1" + page:       http.StatusServiceUnavailable,

		"OPTIONS /api/chat HTTP/1.1" + page + "\r\nAccess-Control-Request-Method: POST": http.StatusNoContent,
		"GET /api/sessions HTTP/1.1\r\nHost: elsewhere.example":                         http.StatusForbidden,
	} {
		_, r := s.dial(request + "\r\n\r\n")
		res, body := answer(t, r)
		if res.StatusCode != want || !res.Close || want != http.StatusForbidden && res.Header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" {
			t.Errorf("%s: %s %v %s", request, res.Status, res.Header, body)
		}
	}
	if after := failed(t, s, held[0]); after != before+2 {
		t.Errorf("%d requests failed, and then %d", before, after)
	}
	_ = held[0].Close()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		_, r := s.dial(openPage)
		res, _ := answer(t, r)
		if res.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a connection that was closed is still counted")
		}
	}
}

// failed asks on a connection how many requests were answered with a 5xx status.
func failed(t *testing.T, s *server, conn net.Conn) (n int) {
	t.Helper()
	_, _ = fmt.Fprintf(conn, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", s.token)
	_, body := answer(t, bufio.NewReader(conn))
	_, rest, _ := strings.Cut(body, "\ntributary_http_failed_total ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return n
}

// Connections beyond those that get a 503 are closed at once, so they cost nothing.
//
//evidence:for limit-connections
func TestAFloodOfConnections(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "limits: {connections: 1}")
	s := startServer(t, t.TempDir(), "--config", conf)
	const beyond = 50
	closed := make(chan bool, 1+surplus+beyond)
	for range 1 + surplus + beyond {
		_, r := s.dial("")
		go func() {
			_, err := r.ReadByte()
			closed <- err != nil && !isTimeout(err)
		}()
	}
	for range beyond {
		if !<-closed {
			t.Error("who came beyond the bound was answered, or left to wait")
		}
	}
}

// Clients that take all connections, and those beyond them, and send nothing keep no health check out.
// The log and a metric say so.
//
//evidence:for limit-connections
func TestSilentConnectionsKeepNoHealthCheckOut(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", "{limits: {connections: 2}, metrics_listen: \"127.0.0.1:0\"}"))
	for range 2 + 2*surplus {
		s.dial("")
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		_, r := s.dial("GET " + path + " HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n")
		if res, body := answer(t, r); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
	if n := strings.Count(s.errors.String(), "all connections are taken"); n != 1 {
		t.Errorf("%d lines say that all connections are taken:\n%s", n, s.errors)
	}
	if _, body := get(t, s.metricsAddress(), ""); !strings.Contains(body, "\ntributary_connections_refused_total "+fmt.Sprint(2*surplus+2)+"\n") {
		t.Errorf("the refused connections are not counted:\n%s", body)
	}
}

// Further scrapers get one answer each: their connections are beyond the bound.
//
//evidence:for limit-metrics-connections
func TestConnectionsAtMetricsListenAreBounded(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", "{metrics_listen: \"127.0.0.1:0\"}"))
	s.base = s.metricsAddress()
	for n := range mostScrapers + 1 {
		words := ""
		if n >= mostScrapers-1 {
			words = "GET /metrics HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n"
		}
		if _, r := s.dial(words); words != "" {
			if res, _ := answer(t, r); res.StatusCode != http.StatusOK || res.Close != (n == mostScrapers) {
				t.Errorf("connection %d of %d: %s, and it is closed: %v", n+1, mostScrapers, res.Status, res.Close)
			}
		}
	}
}

// metricsAddress is where the gateway answers for metrics_listen, as its log says.
func (s *server) metricsAddress() string {
	s.t.Helper()
	_, rest, _ := strings.Cut(s.errors.String(), `"msg":"metrics","listen":"`)
	address, _, found := strings.Cut(rest, `"`)
	if !found {
		s.t.Fatalf("no address of the metrics:\n%s", s.errors)
	}
	return "http://" + address
}

func get(t *testing.T, base, host string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// A scraper needs no token that reads conversations: it has an address of its own, which answers with
// metrics under every name, and with nothing else. Without the setting there is none.
func TestAScraperHasAnAddressOfItsOwn(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", `metrics_listen: "127.0.0.1:0"`))
	at := s.metricsAddress()
	if status, body := get(t, at, "10.1.2.3:9464"); status != http.StatusOK || !strings.Contains(body, "\ntributary_ready 1\n") || !strings.Contains(body, "\ntributary_connections ") {
		t.Errorf("%d %s", status, body)
	}
	for _, path := range []string{"/", "/api/sessions", "/api/auth/me", "/readyz"} {
		res, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if status, _ := get(t, s.base, ""); status != http.StatusUnauthorized {
		t.Errorf("the gateway's own address answers %d without a token", status)
	}
	taken := command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", file(t, "tributary.yaml", "metrics_listen: "+strings.TrimPrefix(at, "http://")))
	taken.want(t, exitFailed, "is in use by another program: end that one, or choose another with metrics_listen")
	wrong := command(t, "", "config", "check", "--config", file(t, "tributary.yaml", "metrics_listen: here"))
	wrong.want(t, exitUsage, `metrics_listen is "here": write host:port`)
	if plain := startServer(t, t.TempDir()); strings.Contains(plain.errors.String(), `"msg":"metrics"`) {
		t.Error("metrics have an address of their own without the setting")
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// The server's own bounds, on a socket: a request that is too large or too slow never
// reaches a handler.
//
//evidence:for limit-headers
func TestFloodOfHeaders(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir())
	line := "X-Flood: " + strings.Repeat("x", 1000) + "\r\n"
	for name, words := range map[string]string{
		"many lines":    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat(line, 80) + "\r\n",
		"one long line": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Flood: " + strings.Repeat("x", 80<<10) + "\r\n\r\n",
		"a long path":   "GET /" + strings.Repeat("x", 80<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		_, r := s.dial(words)
		if res, body := answer(t, r); res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s: %s %s", name, res.Status, body)
		}
	}
	// 64 KB are let through, so that the bound is where it is said to be.
	_, r := s.dial("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat(line, 60) + "\r\n")
	if res, body := answer(t, r); res.StatusCode != http.StatusOK {
		t.Errorf("60 KB: %s %s", res.Status, body)
	}
	for name, words := range map[string]string{
		"no HTTP":        "hello\r\n\r\n",
		"two lengths":    "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"a bad length":   "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
		"no host":        "GET /healthz HTTP/1.1\r\n\r\n",
		"a bad name":     "GET /healthz HTTP/1.1\r\nHost: localhost\r\nbad name: x\r\n\r\n",
		"a bad encoding": "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		_, r := s.dial(words)
		if res, body := answer(t, r); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s %s", name, res.Status, body)
		}
	}
}

// Headers that trickle in for ever hold nothing: the connection is closed.
//
//evidence:for limit-header-time limit-idle-connection
func TestHeadersThatTrickle(t *testing.T) {
	t.Parallel()
	s := &instance{logger: slog.New(slog.DiscardHandler)}
	server := s.newServer(nil, nil, http.NotFoundHandler())
	if server.ReadHeaderTimeout != readHeaderWithin || server.IdleTimeout != idleWithin || server.MaxHeaderBytes > maxHeader {
		t.Errorf("the server's bounds are %v, %v, %d", server.ReadHeaderTimeout, server.IdleTimeout, server.MaxHeaderBytes)
	}
	server.ReadHeaderTimeout = 50 * time.Millisecond
	l, err := listen(t.Context(), "127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	c := newConnections(l, 10, slog.New(slog.DiscardHandler))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(c) }()
	defer func() { _ = server.Close(); <-ended }()
	conns := make([]net.Conn, 10)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
		_, _ = fmt.Fprint(conns[i], "GET / HTTP/1.1\r\nHost: local")
	}
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(conn); isTimeout(err) {
			t.Error("it is still open")
		}
	}
	for deadline := time.Now().Add(patience); c.open.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are counted and gone", c.open.Load())
		}
	}
}
