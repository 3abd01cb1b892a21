package uistream_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/uistream"
)

func TestC01_C02_WriterHeadersAndFrames(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	w := uistream.NewWriter(rec, uistream.Framing{}, uistream.Timing{})
	if w.Begun() {
		t.Error("begun before Begin")
	}
	if err := w.Begin(); err != nil || !rec.Flushed || rec.Body.String() != ": stream-open\n\n" {
		t.Fatalf("Begin: %v, %q", err, rec.Body)
	}
	for k, want := range map[string]string{
		"content-type": "text/event-stream", "cache-control": "no-cache", "connection": "keep-alive",
		"x-vercel-ai-ui-message-stream": "v1", "x-accel-buffering": "no",
	} {
		if got := rec.Result().Header.Get(k); got != want {
			t.Errorf("%s: got %q, want %q", k, got, want)
		}
	}
	if err := errors.Join(w.Chunks(uistream.Start{MessageID: "m"}), w.Fail("It broke."), w.Done()); err != nil {
		t.Fatal(err)
	}
	w.Close()
	want := ": stream-open\n\nevent: start\ndata: {\"type\":\"start\",\"messageId\":\"m\"}\n\n" +
		"event: error\ndata: {\"type\":\"error\",\"errorText\":\"It broke.\"}\n\nevent: finish\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n"
	if got := rec.Body.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A stream that has begun and not ended must not look like a success.
func TestTrap13_AnUnfinishedStreamBreaksTheConnection(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w := uistream.NewWriter(rw, uistream.Framing{}, uistream.Timing{})
		defer w.Close()
		_ = w.Begin()
	}))
	defer srv.Close()
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s := bufio.NewScanner(resp.Body)
	for s.Scan() {
	}
	if s.Err() == nil {
		t.Error("the body ended cleanly")
	}
}

// A comment comes when the client has heard nothing for 15 s.
func TestKeepaliveTiming(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		begin := time.Now()
		var at []int
		var r response
		r.hook = func(int) error { at = append(at, int(time.Since(begin).Seconds())); return nil }
		records := story(t, 1, "words ")
		f := newFeed(records[:2]...)
		result := make(chan error)
		go func() {
			result <- bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f)
		}()
		time.Sleep(40 * time.Second)
		f.add(records[2])
		time.Sleep(16 * time.Second)
		f.add(records[3:]...)
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		want := []int{0, 0, 15, 30, 40, 55, 56}
		if len(at) < len(want) || !equal(at[:len(want)], want) || strings.Count(r.text(), ": keep-alive\n\n") != 3 {
			t.Errorf("writes at %v, want %v; body\n%s", at, want, r.text())
		}
	})
}

func equal(a, b []int) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var r response
		w := uistream.NewWriter(&r, uistream.Framing{}, uistream.Timing{Keepalive: 25 * time.Second})
		defer context.AfterFunc(ctx, w.Wake)()
		var err error
		for err == nil { // after each comment, it returns
			err = w.Wait(ctx)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if n := strings.Count(r.text(), ": keep-alive"); n != 2 {
			t.Errorf("%d comments in a minute, want 2", n)
		}
		w.Wake()
		if err := w.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A socket that takes nothing is given up after the write deadline.
func TestStuckSocketIsFreed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		f := newFeed(story(t, 3, "words ")...)
		result := make(chan time.Duration, 1)
		srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			begin := time.Now()
			w := uistream.NewWriter(rw, bc.Framing(), uistream.Timing{})
			defer w.Close()
			if err := bc.Serve(r.Context(), w, uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f); err == nil {
				t.Error("the write to a stuck socket succeeded")
			}
			result <- time.Since(begin)
		})}
		client, server := net.Pipe()
		defer client.Close()
		l := &oneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
		l.conn <- server
		go func() { _ = srv.Serve(l) }()
		if _, err := client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if took := <-result; took != 30*time.Second { // and the client never reads
			t.Errorf("freed after %v, want 30s", took)
		}
		_ = srv.Close()
	})
}

// oneConn is a listener that has one connection.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
func (l *oneConn) Close() error {
	close(l.closed)
	return nil
}
