package gateway_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
)

// Every answer says whether it may be kept, whether the guard gives it, a route of
// any kind, or the page, which allows it for its files alone.
func TestNobodyKeepsAnswers(t *testing.T) {
	s := newStandOn(t, memlog.New(), nil, func(o *gateway.Options) {
		guarded(t)(o)
		o.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = io.WriteString(w, "the page")
		})
	})
	owner := []string{"Authorization", "Bearer " + ownersToken}
	const stream = "no-cache"
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
		want               string
	}{
		{"POST", "/api/sessions", `{"id":"c1"}`, owner, 201, "no-store"},
		{"POST", "/api/chat", submit("c1", "u1", "hello"), owner, 200, stream},
		{"GET", "/api/chat/c1/stream", "", owner, 200, stream},
		{"HEAD", "/api/sessions/c1/events", "", owner, 200, stream},
		{"GET", "/api/chat/nope/stream", "", owner, 204, "no-store"},
		{"POST", "/api/chat/c1/stop", "", owner, 200, "no-store"},
		{"GET", "/api/sessions", "", owner, 200, "no-store"},
		{"GET", "/api/sessions/c1/messages", "", owner, 200, "no-store"},
		{"GET", "/api/sessions/c1/trace", "", owner, 200, "no-store"},
		{"GET", "/api/sessions/nope", "", owner, 404, "no-store"},
		{"PUT", "/api/sessions/c1", "", owner, 405, "no-store"},
		{"DELETE", "/api/sessions/c1", "", owner, 204, "no-store"},
		{"GET", "/api/sessions", "", nil, 401, "no-store"},
		{"OPTIONS", "/api/chat", "", []string{"Origin", "http://localhost:3000", "Access-Control-Request-Method", "POST"}, 204, "no-store"},
		{"GET", "/metrics", "", owner, 200, "no-store"},
		{"GET", "/healthz", "", nil, 200, "no-store"},
		{"GET", "/readyz", "", nil, 200, "no-store"},
		{"GET", "/", "", nil, 200, "no-cache"},
		{"GET", "/nope", "", nil, 404, "no-store"},
	} {
		status, header, body := s.do(c.method, c.path, c.body, c.header...)
		if got := header.Values("Cache-Control"); status != c.status || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %s: %d, Cache-Control %q: %.200s", c.method, c.path, status, got, body)
		}
	}
}
