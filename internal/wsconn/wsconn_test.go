package wsconn_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/internal/wsconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server that accepts connections, and returns its address.
func serve(t *testing.T, with func(context.Context, *websocket.Conn)) string {
	t.Helper()
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work.Add(1)
		defer work.Done()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow() //nolint:errcheck // a test's
		with(t.Context(), conn)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func dial(t *testing.T, url string, cfg wsconn.Config) *wsconn.Conn {
	t.Helper()
	c, err := wsconn.Dial(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func echo(ctx context.Context, conn *websocket.Conn) {
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil || conn.Write(ctx, kind, data) != nil {
			return
		}
	}
}

func TestFramesGoBothWaysAndBinaryOnesAreSkipped(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageBinary, []byte{1})
		echo(ctx, conn)
	}), wsconn.Config{})
	if err := c.Write(t.Context(), []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read(t.Context()); err != nil || string(got) != `{"a":1}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTheEndOfAConnectionIsOneSentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with  func(context.Context, *websocket.Conn)
		want  string
		final bool
	}{
		"closed with a reason": {func(_ context.Context, c *websocket.Conn) { _ = c.Close(websocket.StatusPolicyViolation, "go\naway") }, "the peer closed the connection (1008): go away", true},
		"closed":               {func(_ context.Context, c *websocket.Conn) { _ = c.Close(websocket.StatusGoingAway, "") }, "the peer closed the connection (1001)", false},
		"cut":                  {func(_ context.Context, c *websocket.Conn) { _ = c.CloseNow() }, "the connection broke: EOF", false},
		"a frame too large": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, make([]byte, 101))
		}, "a frame is larger than 100 bytes", true},
		"no UTF-8": {func(ctx context.Context, c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageText, []byte{255}) }, "a frame is not UTF-8", true},
		"no pong":  {func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() }, "the peer answered no ping within 50ms", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := wsconn.Config{MaxFrame: 100}
			if name == "no pong" {
				cfg.PingEvery, cfg.PongTime = 50*time.Millisecond, 50*time.Millisecond
			}
			conn := dial(t, serve(t, c.with), cfg)
			_, err := conn.Read(t.Context())
			failed, ok := errors.AsType[*wsconn.Error](err)
			if !ok || failed.Error() != c.want || failed.Final() != c.final {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAConnectionThatIsNotOpenedIsOneSentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   string
		final  bool
	}{
		"a page":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, "the server answers 200 (OK) and opens no WebSocket: is the address right?", false},
		"no access":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "the server answers 403 (Forbidden)", true},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "the server redirects to /login", true},
		"a redirect that repeats the query": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login?"+r.URL.RawQuery, http.StatusFound)
		}, "the server redirects to /login?…", true},
		"silence": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no connection came about within 200ms", false},
		"nobody":  {nil, "connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := "http://127.0.0.1:1" // no server listens there, and none gets this port
			if c.handle != nil {
				s := httptest.NewServer(c.handle)
				t.Cleanup(s.Close)
				url = s.URL + "?key=secret-key"
			}
			_, err := wsconn.Dial(t.Context(), url, wsconn.Config{OpenTime: 200 * time.Millisecond})
			failed, ok := errors.AsType[*wsconn.Error](err)
			if !ok || strings.Contains(failed.Error(), "secret-key") || !strings.Contains(failed.Error(), c.want) || failed.Final() != c.final {
				t.Errorf("%v", err)
			}
		})
	}
}

// inBubble tests a connection to a server in the time of a bubble.
func inBubble(t *testing.T, cfg wsconn.Config, with func(context.Context, *websocket.Conn), test func(t *testing.T, c *wsconn.Conn)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		accepted := make(chan net.Conn, 1)
		accepted <- server
		s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if conn, err := websocket.Accept(w, r, nil); err == nil {
				with(t.Context(), conn)
			}
		})}
		go s.Serve(pipe{accepted}) //nolint:errcheck // it ends with Close
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		cfg.Client = &http.Client{Transport: transport}
		c, err := wsconn.Dial(t.Context(), "http://peer", cfg)
		if err != nil {
			t.Fatal(err)
		}
		test(t, c)
		c.Close()
		_ = s.Close()
		transport.CloseIdleConnections()
	})
}

func TestAReaderThatWorksOnAFrameIsNotTakenForAPeerThatHasGone(t *testing.T) {
	inBubble(t, wsconn.Config{PingEvery: time.Second, PongTime: 2 * time.Second}, echo, func(t *testing.T, c *wsconn.Conn) {
		for range 2 {
			if err := c.Write(t.Context(), []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

func TestAFrameBehindALargeOneWaitsForIt(t *testing.T) {
	slowly := func(ctx context.Context, conn *websocket.Conn) {
		conn.SetReadLimit(-1)
		for {
			_, r, err := conn.Reader(ctx)
			for piece := make([]byte, 32<<10); err == nil; _, err = r.Read(piece) {
				time.Sleep(time.Second)
			}
			if !errors.Is(err, io.EOF) {
				return
			}
		}
	}
	inBubble(t, wsconn.Config{WriteTime: 5 * time.Second, PingEvery: time.Hour}, slowly, func(t *testing.T, c *wsconn.Conn) {
		wrote := make(chan error)
		for _, size := range []int{1 << 20, 1} {
			go func() { wrote <- c.Write(t.Context(), make([]byte, size)) }()
			time.Sleep(time.Second)
		}
		for range 2 {
			if err := <-wrote; err != nil {
				t.Error(err)
			}
		}
	})
}

// pipe is a listener that accepts the connections of a channel.
type pipe struct{ accepted chan net.Conn }

func (p pipe) Accept() (net.Conn, error) {
	if c, ok := <-p.accepted; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipe) Close() error   { close(p.accepted); return nil }
func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }

func TestCloseWaitsForTheGoodbyeButNotForEver(t *testing.T) {
	t.Parallel()
	said := make(chan websocket.StatusCode, 1)
	c := dial(t, serve(t, func(ctx context.Context, conn *websocket.Conn) {
		_, _, err := conn.Read(ctx)
		said <- websocket.CloseStatus(err)
	}), wsconn.Config{})
	reading := make(chan error, 1)
	go func() {
		_, err := c.Read(t.Context())
		reading <- err
	}()
	time.Sleep(10 * time.Millisecond)
	c.Close()
	if code := <-said; code != websocket.StatusNormalClosure {
		t.Errorf("the peer got %d", code)
	}
	if err := <-reading; err == nil {
		t.Error("the reader goes on")
	}
	deaf := dial(t, serve(t, func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() }), wsconn.Config{})
	begun := time.Now()
	deaf.Close()
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("Close took %v", took)
	}
}
