package agenttest

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// ListenAlone listens on a port of loopback that no test gets by chance: systems give ports from
// 32768 on to those who name none. So the port stays free after the end of its listener, and no
// other server gets the requests of its clients.
func ListenAlone(t testing.TB) net.Listener {
	t.Helper()
	for range 1000 {
		l, err := listen(fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))) //nolint:gosec // no secret
		if err == nil {
			return l
		}
	}
	t.Fatal("no port is free")
	return nil
}

func listen(at string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", at)
}

// ShakyServer is a server that can be away.
type ShakyServer struct {
	URL string

	t       testing.TB
	at      string
	handler http.Handler
	work    sync.WaitGroup
	mu      sync.Mutex
	server  *http.Server
}

// NewShakyServer starts a server. The end of the test closes the server.
func NewShakyServer(t testing.TB, h http.Handler) *ShakyServer {
	t.Helper()
	l := ListenAlone(t)
	s := &ShakyServer{URL: "http://" + l.Addr().String(), t: t, at: l.Addr().String(), handler: h}
	s.serve(l)
	t.Cleanup(func() {
		s.Leave()
		s.work.Wait()
	})
	return s
}

func (s *ShakyServer) serve(l net.Listener) {
	server := &http.Server{Handler: s.handler, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.server = server
	s.mu.Unlock()
	s.work.Go(func() { _ = server.Serve(l) })
}

// Leave breaks off all connections, and refuses new ones.
func (s *ShakyServer) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.server.Close()
}

// Return takes connections again.
func (s *ShakyServer) Return() {
	l, err := listen(s.at)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.serve(l)
}
