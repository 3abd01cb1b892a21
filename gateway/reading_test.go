package gateway_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// slowStore is a store whose reads of one session last until they are released. It keeps to
// the pace of its readers, as a database does.
type slowStore struct {
	eventlog.Store
	slow    atomic.Pointer[string]
	release chan struct{}
	reads   atomic.Int64 // of any session, in all
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
	s.reads.Add(1)
	slow := s.slow.Load()
	if slow == nil || *slow != session {
		return records
	}
	return func(yield func(trace.Record, error) bool) {
		if err := eventlog.PaceOf(ctx).Reads(); err != nil {
			yield(trace.Record{}, err)
			return
		}
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

// readers are the requests that read the log of the session "big", by the pattern of their
// route. The word TURN in a path stands for a turn of the session, for each request another one.
var readers = map[string][]struct{ path, accept string }{
	"GET /api/sessions/{id}/trace": {
		{"/api/sessions/big/trace", ""},
		{"/api/sessions/big/trace?deltas=1", "application/x-ndjson"},
		{"/api/sessions/big/trace?after=0", "text/event-stream"},
		{"/api/sessions/big/trace?deltas=1&after=1", "text/event-stream"},
	},
	"GET /api/sessions/{id}/events":             {{"/api/sessions/big/events?after=1", "text/event-stream"}},
	"GET /api/sessions/{id}/messages":           {{"/api/sessions/big/messages", ""}, {"/api/sessions/big/messages?after=0", ""}},
	"GET /api/sessions/{id}/export":             {{"/api/sessions/big/export", ""}, {"/api/sessions/big/export?format=json", ""}},
	"GET /api/sessions/{id}/scores":             {{"/api/sessions/big/scores", ""}},
	"GET /api/sessions/{id}/tools":              {{"/api/sessions/big/tools", ""}},
	"GET /api/sessions/{id}/ws":                 {{"/api/sessions/big/ws?role=client", ""}},
	"GET /api/chat":                             {{"/api/chat?turn=TURN&client=7/big/stream", ""}},
	"GET /api/chat/{id}/stream":                 {{"/api/chat/big/stream?turn=TURN&client=7", ""}},
	"GET /api/sessions/{id}/chat/stream":        {{"/api/sessions/big/chat/stream?turn=TURN&client=7", ""}},
	"GET /api/sessions/{id}/chat/{chat}/stream": {{"/api/sessions/big/chat/x/stream?turn=TURN&client=7", ""}, {"/api/sessions/big/chat/big/stream?turn=TURN&startIndex=0", ""}},
}

// nonReaders are the other routes for what can be read: none of them reads the log of a session.
// The stream of the list does not end, so it is not asked for here. The queue reads nothing but the
// prompts that wait, and none waits here.
var nonReaders = map[string]string{
	"GET /api/events":                       "",
	"GET /api/exporters":                    "/api/exporters",
	"GET /api/requests":                     "/api/requests",
	"GET /api/sessions":                     "/api/sessions",
	"GET /api/sessions/{id}/requests":       "/api/sessions/big/requests",
	"GET /api/sessions/{id}":                "/api/sessions/big",
	"GET /api/sessions/{id}/grants":         "/api/sessions/big/grants",
	"GET /api/sessions/{id}/files":          "/api/sessions/big/files",
	"GET /api/sessions/{id}/controls":       "/api/sessions/big/controls",
	"GET /api/sessions/{id}/queue":          "/api/sessions/big/queue",
	"GET /api/sessions/{id}/channels":       "/api/sessions/big/channels",
	"GET /api/sessions/{id}/participants":   "/api/sessions/big/participants",
	"GET /api/sessions/{id}/threads":        "/api/sessions/big/threads",
	"GET /api/sessions/{id}/threads/active": "/api/sessions/big/threads/active",
	"GET /api/agents":                       "/api/agents",
	"GET /api/agents/{agent}/conversations": "/api/agents/demo/conversations",
	"GET /api/auth/me":                      "/api/auth/me",
	"GET /api/workspaces":                   "/api/workspaces",
	"GET /metrics":                          "/metrics",
}

const mostReaders = 4 // 400 MB by 128 MB, and the oldest

// slowStand is a stand on a store that can be slow, with a session of some turns.
func slowStand(t *testing.T, turns int) (s stand, store *slowStore, ids []string) {
	t.Helper()
	store = &slowStore{Store: memlog.New(), release: make(chan struct{})}
	handler, closeAll := newHandler(t, store, func(o *session.Options) {
		o.Log = eventlog.New(store)
	}, func(o *gateway.Options) { o.Read = 200 * time.Millisecond })
	s = serveStand(t, handler, closeAll)
	for i := range turns {
		s.do("POST", "/api/chat", submit("big", fmt.Sprint("u", i), "hello"))
	}
	s.do("POST", "/api/chat", submit("small", "u1", "hello"))
	_, _, history := s.do("GET", "/api/sessions/big/messages", "") // what it is made of is known
	_, _, records := s.do("GET", "/api/sessions/big/trace", "")
	for _, m := range regexp.MustCompile(`"turn":"([^"]+)"`).FindAllStringSubmatch(records, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	if len(ids) != turns || !strings.Contains(history, "u0") {
		t.Fatalf("there are %d turns of %d", len(ids), turns)
	}
	if status, _, body := s.do("POST", "/api/sessions/big/scores", fmt.Sprintf(`{"scores":[{"turn":%q,"name":"tests","verdict":"pass"}]}`, ids[0])); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	return s, store, ids
}

// Each route by which something can be read is in one of the two lists.
//
//evidence:for limit-downloads
func TestEveryRouteThatReadsIsKnown(t *testing.T) {
	t.Parallel()
	s, store, _ := slowStand(t, 1)
	for _, pattern := range gateway.Patterns() {
		if !strings.HasPrefix(pattern, "GET ") {
			continue
		}
		_, reads := readers[pattern]
		path, not := nonReaders[pattern]
		if reads == not {
			t.Errorf("%s is new: put it into readers or nonReaders", pattern)
		}
		if path == "" {
			continue
		}
		before := store.reads.Load()
		s.do("GET", path, "")
		if store.reads.Load() != before {
			t.Errorf("%s reads the log: put it into readers", pattern)
		}
	}
}

// However many readers a viewer starts, only some of them read at a time: the others
// wait, and are refused. Everybody else goes on.
//
//evidence:for limit-downloads
func TestAViewerWhoReadsASessionManyTimesSlowsNobody(t *testing.T) {
	t.Parallel()
	for pattern, requests := range readers {
		for _, request := range requests {
			t.Run(strings.ReplaceAll(strings.TrimPrefix(pattern, "GET /api/")+" "+request.accept, "/", " "), func(t *testing.T) {
				t.Parallel()
				slowViewer(t, request.path, request.accept)
			})
		}
	}
}

func slowViewer(t *testing.T, path, accept string) {
	t.Helper()
	const readers = 20
	s, store, turns := slowStand(t, readers)
	name := "big"
	store.slow.Store(&name)
	refusals := make(chan string, readers)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan struct{}, readers)
	for i := range readers {
		go func() {
			defer func() { left <- struct{}{} }()
			if refusal := s.readAs(ctx, "eve", strings.ReplaceAll(path, "TURN", turns[i]), accept); refusal != "" {
				refusals <- refusal
			}
		}()
	}
	for range readers - mostReaders {
		select {
		case refusal := <-refusals:
			const want = "Histories, traces and events that are read for you take up the 400 MB that they may: try again when one of them is through."
			if !strings.Contains(refusal, want) {
				t.Errorf("%s is refused with %s", path, refusal)
			}
		case <-time.After(time.Minute):
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
	if n := store.most.Load(); n != mostReaders {
		t.Errorf("%d read at once, want %d", n, mostReaders)
	}
}

// readAs sends a request, or opens a WebSocket, and returns why that was refused; "" if it
// was not.
func (s stand) readAs(ctx context.Context, who, path, accept string) (refusal string) {
	header := http.Header{"X-Test-Principal": {who}, "X-Test-Role": {"viewer"}, "Accept": {accept}}
	if strings.Contains(path, "/ws?") {
		conn, _, err := websocket.Dial(ctx, s.url+path, &websocket.DialOptions{HTTPHeader: header}) //nolint:bodyclose // it is the connection
		if err != nil {
			return err.Error()
		}
		defer conn.CloseNow() //nolint:errcheck // it is over
		for {
			if _, frame, err := conn.Read(ctx); err != nil || strings.Contains(string(frame), `"error"`) {
				return string(frame)
			}
		}
	}
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		<-ctx.Done() // a stream that is read no further
		return ""
	}
	body, _ := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s: %s", res.StatusCode, res.Header.Get("Retry-After"), body)
}

// An answer to a message reads the records of the turn, if the turn is not in memory.
func TestAnswersToOldMessagesAreBoundedAsReadersAre(t *testing.T) {
	t.Parallel()
	const answers = 20
	first, store, _ := slowStand(t, answers)
	_, _, history := first.do("GET", "/api/sessions/big/messages", "")
	messages := regexp.MustCompile(`"id":"(msg_[^"]+)"`).FindAllStringSubmatch(history, -1)
	if len(messages) != answers {
		t.Fatalf("the history is %s", history)
	}
	handler, closeAll := newHandler(t, store, nil, func(o *gateway.Options) { o.Read = 200 * time.Millisecond }) // as after a restart
	s := serveStand(t, handler, closeAll)
	name := "big"
	store.slow.Store(&name)
	got := make(chan string, answers)
	for _, m := range messages {
		go func() {
			_, _, body := s.do("POST", "/api/chat", `{"id":"big","trigger":"submit-message","messages":[{"id":"`+m[1]+`","role":"assistant","parts":[`+
				`{"type":"tool-shell","toolCallId":"c","state":"approval-responded","input":{},"approval":{"id":"none","approved":true}}]}]}`)
			got <- body
		}()
	}
	for range answers - mostReaders {
		if body := <-got; !strings.Contains(body, "that are read for you take up the 400 MB") {
			t.Errorf("an answer gets %s", body)
		}
	}
	close(store.release)
	for range mostReaders {
		if body := <-got; !strings.Contains(body, "not waiting for an answer") {
			t.Errorf("an answer that was read for gets %s", body)
		}
	}
	if n := store.most.Load(); n != mostReaders {
		t.Errorf("%d read at once, want %d", n, mostReaders)
	}
}
