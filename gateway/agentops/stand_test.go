package agentops_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/internal/inflight"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a gateway on a loopback port, with the demo agent and a log in memory.
type stand struct {
	t   testing.TB
	url string
}

func newStand(t testing.TB, change func(*session.Options), adapt ...func(*gateway.Options)) stand {
	t.Helper()
	handler, closeAll := newHandler(t, change, append([]func(*gateway.Options){func(o *gateway.Options) { o.Read = 300 * time.Millisecond }}, adapt...)...)
	return serveStand(t, handler, closeAll)
}

// serveStand serves a handler on a loopback port.
func serveStand(t testing.TB, handler http.Handler, closeAll func()) stand {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		closeAll()
		s.CloseClientConnections()
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return stand{t, s.URL}
}

// newHandler makes a gateway whose callers are who X-Test-Principal says (ada), in
// the role that X-Test-Role says (admin).
func newHandler(t testing.TB, change func(*session.Options), adapt ...func(*gateway.Options)) (handler http.Handler, closeAll func()) {
	t.Helper()
	log := eventlog.New(memlog.New())
	o := session.Options{Log: log, Default: "demo", Agents: map[string]session.Agent{
		"demo": {Runtime: demo.Runtime{Pace: time.Millisecond}, Cwd: t.TempDir(), Policy: permission.Default()},
	}}
	if change != nil {
		change(&o)
	}
	hub, err := session.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	streams := uistream.NewStreams(uistream.Framing{})
	profile, err := uistream.ParseProfile("")
	if err != nil {
		t.Fatal(err)
	}
	var sockets inflight.Count
	g := gateway.Options{Sockets: &sockets, Hub: hub, Streams: streams, Stream: uistream.Options{Profile: profile}, Guard: believing}
	for _, a := range adapt {
		a(&g)
	}
	return gateway.New(g), func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = hub.Close(ctx)
		_ = sockets.Wait(context.Background())
		streams.Close()
		_ = log.Close()
	}
}

// believing is a guard that believes what a request says of its sender.
func believing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := access.Principal{ID: cmp.Or(r.Header.Get("X-Test-Principal"), "ada")}
		if err := p.Role.UnmarshalText([]byte(cmp.Or(r.Header.Get("X-Test-Role"), "admin"))); err != nil {
			panic(err)
		}
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), p)))
	})
}

// expiringAt is a guard whose users' tokens expire for WebSockets.
func expiringAt(until func() time.Time) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				p := access.Principal{ID: "ada", Role: access.Admin}
				if access.Upgrades(r) {
					p.Expires = until()
				}
				next.ServeHTTP(w, r.WithContext(access.With(r.Context(), p)))
			})
		}
	}
}

func privately(o *gateway.Options) { o.Private = true }

// as are the headers of somebody.
func as(who, role string) []string { return []string{"X-Test-Principal", who, "X-Test-Role", role} }

func (s stand) do(method, path, body string, header ...string) (int, http.Header, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = headers(header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

func headers(pairs []string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// asked is a request and the status it is to have.
type asked struct {
	who, role, method, path, body string
	status                        int
}

func (s stand) all(asks []asked) {
	s.t.Helper()
	for _, a := range asks {
		if status, _, body := s.do(a.method, a.path, a.body, as(a.who, a.role)...); status != a.status {
			s.t.Errorf("%s (%s) %s %s: %d %.200s, want %d", a.who, a.role, a.method, a.path, status, body, a.status)
		}
	}
}

// pipes is a gateway whose connections are pipes, and whose time is not real.
type pipes struct {
	t     testing.TB
	conns chan net.Conn
}

// newPipes must be called in a synctest bubble. The returned function ends it.
func newPipes(t testing.TB, change func(*session.Options), adapt ...func(*gateway.Options)) (p *pipes, end func()) {
	t.Helper()
	handler, closeAll := newHandler(t, change, adapt...)
	p = &pipes{t, make(chan net.Conn)}
	s := &http.Server{Handler: handler} //nolint:gosec // the server's own bounds are tested where they are set
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(p) }()
	return p, func() {
		closeAll()
		_ = s.Close()
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

// ask sends a request and reads all of the answer.
func (p *pipes) ask(request string) (int, string) {
	p.t.Helper()
	conn, far := net.Pipe()
	defer conn.Close()
	p.conns <- far
	if _, err := io.WriteString(conn, request); err != nil {
		p.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// logging lets a gateway write its log to w.
func logging(w io.Writer) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}
