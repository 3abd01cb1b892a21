package gateway_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/trace"
)

// absent is a store that is away for a while.
type absent struct {
	eventlog.Store
	away *atomic.Bool
}

var errAway = errors.New("the server at 10.0.0.7 does not answer")

func (s absent) err() error {
	if s.away.Load() {
		return errAway
	}
	return nil
}

func (s absent) Get(ctx context.Context, id string) ([]byte, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, id)
}

func (s absent) Last(ctx context.Context, id string) (uint64, error) {
	if err := s.err(); err != nil {
		return 0, err
	}
	return s.Store.Last(ctx, id)
}

// reads yields what a store yields, or that it is away.
func reads[T any](s absent, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := s.err(); err != nil {
			var none T
			yield(none, err)
			return
		}
		all(yield)
	}
}

func (s absent) After(ctx context.Context, id string, after uint64) iter.Seq2[trace.Record, error] {
	return reads(s, s.Store.After(ctx, id, after))
}

func (s absent) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return reads(s, s.Store.Durable(ctx, id, after, until))
}

func (s absent) Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnMark, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Turns(ctx, id, before, limit)
}

func (s absent) Delete(ctx context.Context, id string) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, id)
}

func (s absent) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if err := s.err(); err != nil {
		return 0, err
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

func (s absent) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	if err := s.err(); err != nil {
		return 0, err
	}
	return s.Store.Append(ctx, id, turn, events)
}

func (s absent) Messages(ctx context.Context, id string) iter.Seq2[eventlog.MessageMark, error] {
	return reads(s, s.Store.Messages(ctx, id))
}

func (s absent) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return reads(s, s.Store.List(ctx, q))
}

// Whatever a request needs of the log: while the log is away, the answer is 503 with the same
// sentence, which reveals nothing of the database. Afterwards all is well.
func TestWithoutItsLogTheGatewayIsUnavailable(t *testing.T) {
	store := absent{memlog.New(), new(atomic.Bool)}
	s := newStandOn(t, store, nil)
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	requests := []struct{ method, path, body string }{
		{"POST", "/api/chat", submit("known", "u2", "hello")},
		{"POST", "/api/chat", submit("new", "u1", "hello")},
		{"POST", "/api/sessions/elsewhere/chat", submit("elsewhere", "u1", "hello")},
		{"POST", "/api/sessions", `{"id":"made"}`},
		{"PATCH", "/api/sessions/known", `{"title":"Another"}`},
		{"GET", "/api/sessions", ""},
		{"GET", "/api/sessions/elsewhere", ""},
		{"GET", "/api/sessions/elsewhere/messages", ""},
		{"POST", "/api/chat/elsewhere/stop", ""},
		{"DELETE", "/api/sessions/known", ""},
	}
	store.away.Store(true)
	for _, r := range requests {
		status, header, body := s.do(r.method, r.path, r.body)
		if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "The gateway cannot use its log now: try again in a moment") || strings.Contains(body, "10.0.0.7") {
			t.Errorf("%s %s: %d %v %s", r.method, r.path, status, header, body)
		}
	}
	store.away.Store(false)
	for _, r := range requests {
		if status, _, body := s.do(r.method, r.path, r.body); status >= 500 {
			t.Errorf("afterwards %s %s: %d %s", r.method, r.path, status, body)
		}
	}
}

// Each route that reads answers so, also of a session in memory, and none says that something went wrong.
func TestWithoutItsLogNoReadGoesWrong(t *testing.T) {
	store := absent{memlog.New(), new(atomic.Bool)}
	s := newStandOn(t, store, nil)
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	store.away.Store(true)
	reads := []string{"/api/sessions/known/messages", "/api/sessions/known/export", "/api/sessions/known/export?format=atif", "/api/sessions/known/export?format=otlp", "/api/sessions/known/trace", "/api/sessions/known/messages?after=0"}
	for _, path := range reads {
		if status, header, body := s.do("GET", path, ""); status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, `"log_unavailable"`) {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	for _, pattern := range gateway.Patterns() {
		path, reads := strings.CutPrefix(pattern, "GET ")
		if !reads || strings.HasPrefix(path, "/api/agentops") {
			continue
		}
		for _, id := range []string{"known", "elsewhere"} {
			path := strings.NewReplacer("{id}", id, "{agent}", "demo", "{chat}", id).Replace(path)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // those that stream go on
			r, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			} else if res.StatusCode == http.StatusInternalServerError {
				t.Errorf("%s: %s", path, res.Status)
			}
			cancel()
		}
	}
}
