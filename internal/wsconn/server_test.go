package wsconn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/internal/wsconn"
)

// accepting starts a server whose side of a connection is a Conn, and connects to it.
func accepting(t *testing.T, cfg wsconn.Config, with func(context.Context, *wsconn.Conn)) *websocket.Conn {
	t.Helper()
	served := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(served)
		c, err := wsconn.Accept(w, r, cfg)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Cut()
		with(t.Context(), c)
	}))
	conn, _, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Subprotocols: []string{"second", "first"}}) //nolint:bodyclose // its documentation: never needed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.CloseNow()
		<-served
		s.Close()
	})
	return conn
}

func write(t *testing.T, conn *websocket.Conn, frame string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		t.Fatal(err)
	}
}

func TestAServerPicksTheBestSubprotocol(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	conn := accepting(t, wsconn.Config{Subprotocols: []string{"first", "second"}}, func(ctx context.Context, c *wsconn.Conn) {
		frame, err := c.Read(ctx)
		got <- fmt.Sprintf("%x %v", frame, err)
		c.CloseWith(wsconn.PolicyViolation, "enough")
	})
	if conn.Subprotocol() != "first" {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	write(t, conn, "hi")
	if frame := <-got; frame != "6869 <nil>" {
		t.Error(frame)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("the connection ends with %v", err)
	}
}

func TestARequestThatIsNoWebSocketHasItsAnswer(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	_, err := wsconn.Accept(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), wsconn.Config{})
	if _, ok := errors.AsType[*wsconn.Error](err); !ok || w.Code != http.StatusUpgradeRequired {
		t.Errorf("%d, %v", w.Code, err)
	}
}

func TestARefusalKeepsItsBody(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such session", http.StatusNotFound) }))
	defer s.Close()
	_, err := wsconn.Dial(t.Context(), s.URL, wsconn.Config{})
	if failed, ok := errors.AsType[*wsconn.Error](err); !ok || failed.Status != 404 || strings.TrimSpace(string(failed.Body)) != "no such session" {
		t.Errorf("%v", err)
	}
}

func TestAFrameThatStopsOrComesTooSlowlyEndsTheConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg    wsconn.Config
		pieces int
	}{
		"one that stops":    {wsconn.Config{PieceTime: 100 * time.Millisecond}, 1},
		"one that trickles": {wsconn.Config{PieceTime: 200 * time.Millisecond, MinRate: 1 << 20}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			conn := accepting(t, c.cfg, func(ctx context.Context, c *wsconn.Conn) {
				_, err := c.Read(ctx)
				ended <- err
			})
			w, err := conn.Writer(t.Context(), websocket.MessageText)
			if err != nil {
				t.Fatal(err)
			}
			for range c.pieces { // until the server has had enough
				if _, err := w.Write(make([]byte, 5000)); err != nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), "a frame stopped for") {
				t.Error(err)
			}
		})
	}
}

func TestLargeFramesAreCountedWhileTheyAreInMemory(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var held []int64
	hold := func(bytes int64) error {
		mu.Lock()
		defer mu.Unlock()
		held = append(held, bytes)
		if bytes > 1<<20 {
			return errors.New("there is no room")
		}
		return nil
	}
	errs := make(chan error, 3)
	conn := accepting(t, wsconn.Config{Hold: hold}, func(ctx context.Context, c *wsconn.Conn) {
		for range 3 {
			_, err := c.Read(ctx)
			errs <- err
		}
	})
	conn.SetReadLimit(-1)
	write(t, conn, "small")
	write(t, conn, strings.Repeat("x", 100<<10))
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if most := slices.Max(held); most < 100<<10 || most > 512<<10 || held[0] != 0 {
		t.Errorf("held %v", held)
	}
	mu.Unlock()
	_ = conn.Write(t.Context(), websocket.MessageText, make([]byte, 8<<20)) // it may be cut before its end
	if err := <-errs; err == nil || err.Error() != "there is no room" {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if held[len(held)-1] != 0 {
		t.Errorf("held %v at the end", held)
	}
}

func TestAQueueWaitsForASlowReaderAndGivesUpOneThatReadsNothing(t *testing.T) {
	t.Parallel()
	result := make(chan error, 1)
	conn := accepting(t, wsconn.Config{WriteTime: time.Minute}, func(ctx context.Context, c *wsconn.Conn) {
		q := wsconn.NewQueue(c)
		var run sync.WaitGroup
		run.Go(func() { _ = q.Run(ctx) })
		frame := make([]byte, 512<<10)
		for i := range 10 { // with a reader
			if err := q.Put(ctx, append([]byte(fmt.Sprintf("%02d", i)), frame...)); err != nil {
				result <- err
				return
			}
		}
		q.Flush(ctx)
		result <- nil
		var err error
		for err == nil { // without one: the network takes some megabytes
			err = q.Put(ctx, frame)
		}
		if q.Offer(frame) {
			err = errors.New("there is room for more")
		}
		c.Cut()
		run.Wait()
		q.Flush(ctx) // nobody writes any more, so this does not wait
		result <- err
	})
	conn.SetReadLimit(-1)
	for i := range 10 {
		if _, data, err := conn.Read(t.Context()); err != nil || string(data[:2]) != fmt.Sprintf("%02d", i) {
			t.Fatal(i, err)
		}
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, wsconn.ErrUnread) {
		t.Error(err)
	}
}
