package gateway_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// slowStore is a store whose reads of one session last until they are released.
type slowStore struct {
	eventlog.Store
	slow    atomic.Pointer[string]
	release chan struct{}
	now     atomic.Int64
	most    atomic.Int64
}

func (s *slowStore) After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return s.slowly(ctx, session, s.Store.After(ctx, session, after))
}

func (s *slowStore) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	return s.slowly(ctx, session, s.Store.Durable(ctx, session, after, until))
}

func (s *slowStore) slowly(ctx context.Context, session string, records iter.Seq2[trace.Record, error]) iter.Seq2[trace.Record, error] {
	slow := s.slow.Load()
	if slow == nil || *slow != session {
		return records
	}
	return func(yield func(trace.Record, error) bool) {
		now := s.now.Add(1)
		defer s.now.Add(-1)
		for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
		}
		select {
		case <-s.release:
		case <-ctx.Done():
		}
		records(yield)
	}
}

// However many readers a viewer starts, only some of them read at a time: the others
// wait, and are refused. Everybody else goes on.
func TestAViewerWhoReadsASessionManyTimesSlowsNobody(t *testing.T) {
	t.Parallel()
	const readers, most = 20, 7 // 400 MB by 64 MB, and the oldest
	for path, accept := range map[string]string{
		"/trace": "", "/trace?deltas=1": "application/x-ndjson", "/trace?after=0": "text/event-stream", "/trace?deltas=1&after=1": "text/event-stream",
		"/events?after=1": "text/event-stream", "/messages": "",
	} {
		t.Run(strings.NewReplacer("/", "", "?", " ").Replace(path)+" "+accept, func(t *testing.T) {
			t.Parallel()
			store := &slowStore{Store: memlog.New(), release: make(chan struct{})}
			handler, closeAll := newHandler(t, store, func(o *session.Options) {
				o.Log = eventlog.New(store, eventlog.Options{TailRecords: -1})
			}, func(o *gateway.Options) { o.Read = 200 * time.Millisecond })
			s := serveStand(t, handler, closeAll)
			s.do("POST", "/api/chat", submit("big", "u1", "hello"))
			s.do("POST", "/api/chat", submit("small", "u1", "hello"))
			s.do("GET", "/api/sessions/big/messages", "") // what it is made of is known
			name := "big"
			store.slow.Store(&name)

			type answer struct {
				status int
				header http.Header
				body   string
			}
			refusals := make(chan answer, readers)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			left := make(chan struct{}, readers)
			for range readers {
				go func() {
					defer func() { left <- struct{}{} }()
					req, _ := http.NewRequestWithContext(ctx, "GET", s.url+"/api/sessions/big"+path, nil)
					req.Header.Set("X-Test-Principal", "eve")
					req.Header.Set("X-Test-Role", "viewer")
					req.Header.Set("Accept", accept)
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						return
					}
					defer res.Body.Close()
					if res.StatusCode != http.StatusOK {
						body := make([]byte, 1000)
						n, _ := res.Body.Read(body)
						refusals <- answer{res.StatusCode, res.Header, string(body[:n])}
						return
					}
					<-ctx.Done()
				}()
			}
			for range readers - most {
				select {
				case a := <-refusals:
					refused(t, path, "/api/sessions/big"+path, a.status, a.header, a.body, "too_many_downloads",
						"Histories, traces and events that are read for you take up the 400 MB that they may: try again when one of them is through.")
				case <-time.After(10 * time.Second):
					t.Fatalf("%d reads are under way, and nobody is refused", store.now.Load())
				}
			}
			if status, _, body := s.do("POST", "/api/chat", submit("small", "u2", "hello")); status != 200 || !strings.Contains(body, "[DONE]") {
				t.Errorf("a prompt gets %d %s", status, body)
			}
			if status, _, _ := s.do("GET", "/api/sessions/small/messages", "", "X-Test-Principal", "bob"); status != 200 {
				t.Errorf("a history gets %d", status)
			}
			close(store.release)
			leave()
			for range readers {
				<-left
			}
			if n := store.most.Load(); n != most {
				t.Errorf("%d read at once, want %d", n, most)
			}
		})
	}
}
