package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
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
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a gateway on a loopback port, with the demo agent and a log in memory.
type stand struct {
	t   *testing.T
	url string
}

func newStand(t *testing.T, change func(*session.Options)) stand {
	t.Helper()
	return newStandOn(t, memlog.New(), change)
}

func newStandOn(t *testing.T, store eventlog.Store, change func(*session.Options), adapt ...func(*gateway.Options)) stand {
	t.Helper()
	handler, closeAll := newHandler(t, store, change, func(o *gateway.Options) {
		for _, a := range adapt {
			a(o)
		}
	})
	return serveStand(t, handler, closeAll)
}

// serveStand serves a handler on a loopback port.
func serveStand(t *testing.T, handler http.Handler, closeAll func()) stand {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		closeAll()
		server.CloseClientConnections()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return stand{t, server.URL}
}

// newHandler makes a gateway whose callers are who X-Test-Principal says (ada), in
// the role that X-Test-Role says (owner), with a token for X-Test-Bound (all sessions).
func newHandler(t *testing.T, store eventlog.Store, change func(*session.Options), configure func(*gateway.Options)) (handler http.Handler, closeAll func()) {
	t.Helper()
	log := eventlog.New(store)
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
	g := gateway.Options{Sockets: &sockets, Hub: hub, Streams: streams, Stream: uistream.Options{Profile: profile}}
	if configure != nil {
		configure(&g)
	}
	if g.Guard == nil {
		g.Guard = func(next http.Handler) http.Handler { return believing(t, next) }
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
func believing(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		role := access.Admin
		if named := r.Header.Get("X-Test-Role"); named != "" {
			if err := role.UnmarshalText([]byte(named)); err != nil {
				t.Error(err)
			}
		}
		who := cmp.Or(r.Header.Get("X-Test-Principal"), "ada")
		p := access.Principal{ID: who, Role: role}
		if only := r.Header.Get("X-Test-Bound"); only != "" {
			p.Bound = access.NewBound(only)
		}
		p.Groups = strings.Fields(r.Header.Get("X-Test-Groups"))
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), p)))
	})
}

func (s stand) do(method, path, body string, header ...string) (int, http.Header, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
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

func submit(id, user, text string) string {
	return `{"id":"` + id + `","trigger":"submit-message","messages":[{"id":"` + user + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}]}`
}

func TestChatStreamsATurn(t *testing.T) {
	s := newStand(t, nil)
	status, header, body := s.do("POST", "/api/chat", submit("c1", "u1", "tool"))
	if status != 200 || header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" || header.Get("X-Accel-Buffering") != "no" ||
		!strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") || header.Get("Cache-Control") == "" {
		t.Errorf("status %d, header %v", status, header)
	}
	for _, want := range []string{`"type":"start","messageId":"msg_`, `"type":"tool-input-available"`, `"type":"tool-output-available"`, `"type":"finish"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if !strings.HasPrefix(body, ":") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("begins or ends wrong:\n%s", body)
	}
	_, _, resumed := s.do("GET", "/api/chat/c1/stream", "")
	if resumed != body {
		t.Errorf("the replay differs:\n%s\n%s", resumed, body)
	}
	_, _, old := s.do("GET", "/api/chat?client=6/c1/stream", "")
	if old != body {
		t.Error("the resume route of older clients, behind a query, differs")
	}
	_, _, other := s.do("GET", "/api/sessions/c1/chat/whatever/stream", "")
	if other != body {
		t.Error("the RFC's resume route differs")
	}
	if status, _, body := s.do("GET", "/api/chat/c1/stream?ended=0", ""); status != 204 {
		t.Errorf("a client that reads the history of ended turns gets %d %s", status, body)
	}
	_, _, paused := s.do("POST", "/api/chat", submit("c2", "u1", "approve"))
	if _, _, body := s.do("GET", "/api/chat/c2/stream?ended=0", ""); body != paused {
		t.Errorf("of a turn that waits it gets %s\nand not %s", body, paused)
	}
}

func TestHistoryIsWhatWasStreamed(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	s.do("POST", "/api/chat", submit("c1", "u2", "error"))
	status, header, body := s.do("GET", "/api/sessions/c1/messages", "")
	var messages []struct {
		ID, Role string
		Metadata map[string]any
		Parts    []map[string]any
	}
	if err := json.Unmarshal([]byte(body), &messages); err != nil || status != 200 || header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %v: %s", status, header, err, body)
	}
	if len(messages) != 4 || messages[0].ID != "u1" || messages[3].Metadata["outcome"] != "failed" {
		t.Errorf("history %s", body)
	}
	_, header, body = s.do("GET", "/api/sessions/c1/messages?limit=1", "")
	link := header.Get("Link")
	if !strings.Contains(link, `rel="prev"`) || !strings.Contains(body, `"u2"`) || strings.Contains(body, `"u1"`) {
		t.Errorf("page: %s %s", link, body)
	}
	path := strings.TrimPrefix(strings.Split(link, ">")[0], "<")
	if _, _, body = s.do("GET", path, ""); !strings.Contains(body, `"u1"`) || strings.Contains(body, `"u2"`) {
		t.Errorf("page before: %s", body)
	}
}

// torn is a store whose records cannot be read to their end.
type torn struct{ eventlog.Store }

func (s torn) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range s.Store.Durable(ctx, id, after, until) {
			if _, over := r.Payload.(trace.Stop); over {
				err = errors.New("the disk is gone")
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func TestAHistoryThatCannotBeReadHasItsStatus(t *testing.T) {
	s := newStandOn(t, torn{memlog.New()}, nil)
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	if status, header, body := s.do("GET", "/api/sessions/c1/messages", ""); status != 503 || !strings.HasPrefix(body, `{"error":`) || header.Get("Link") != "" {
		t.Errorf("%d %s", status, body)
	}
}

func TestStatusAndSentence(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		want                     string
		header                   []string
	}{
		{name: "no body", method: "POST", path: "/api/chat", status: 400, want: "The request body is empty: send JSON with `id` and `messages`."},
		{name: "not JSON", method: "POST", path: "/api/chat", body: "x", status: 400, want: "not JSON"},
		{name: "no id", method: "POST", path: "/api/chat", body: submit("", "u", "hi"), status: 400, want: "The session id is missing"},
		{name: "no user message", method: "POST", path: "/api/chat", body: `{"id":"a","messages":[]}`, status: 400, want: "There is no user message"},
		{name: "empty message", method: "POST", path: "/api/chat", body: submit("a", "u", "  "), status: 400, want: "The message is empty"},
		{name: "long id", method: "POST", path: "/api/chat", body: submit(strings.Repeat("x", 201), "u", "hi"), status: 400, want: "longer than 200 bytes"},
		{name: "unknown agent", method: "POST", path: "/api/chat?agent=nobody", body: submit("a", "u", "hi"), status: 400, want: `There is no such agent as "nobody": there are demo.`},
		{name: "bad client", method: "POST", path: "/api/chat?client=4", body: submit("a", "u", "hi"), status: 400, want: "4"},
		{name: "bad trigger", method: "POST", path: "/api/chat", body: `{"id":"a","trigger":"x","messages":[{"role":"user","parts":[]}]}`, status: 400, want: "`trigger` must be"},
		{name: "continuation of nothing", method: "POST", path: "/api/chat", body: `{"id":"known","messageId":"m","messages":[{"role":"assistant","id":"m","parts":[]}]}`, status: 409, want: "not waiting"},
		{name: "session that must exist", method: "POST", path: "/api/sessions/nope/chat", body: submit("x", "u", "hi"), status: 404, want: "There is no such session."},
		{name: "viewer may not prompt", method: "POST", path: "/api/chat", body: submit("a", "u", "hi"), status: 403, want: "this needs collaborator", header: []string{"X-Test-Role", "viewer"}},
		{name: "unknown session", method: "GET", path: "/api/sessions/nope", status: 404, want: `{"error":"There is no such session.","code":"unknown_session"}`},
		{name: "unknown request", method: "POST", path: "/api/sessions/known/permissions/x", body: `{"approved":true}`, status: 404, want: `"unknown_request"`},
		{name: "unknown key", method: "POST", path: "/api/sessions/known/permissions/x", body: `{"approve":true}`, status: 400, want: "`approve` is not a key here"},
		{name: "answer without value", method: "POST", path: "/api/sessions/known/questions/x", body: `{}`, status: 400, want: "send it as `value`"},
		{name: "unknown route", method: "GET", path: "/api/nope", status: 404, want: "not_found"},
		{name: "resume of nothing", method: "GET", path: "/api/chat/nope/stream", status: 204},
		{name: "stop of nothing", method: "POST", path: "/api/chat/nope/stop", status: 200, want: `{"turn":null,"stopped":false}`},
		{name: "bad limit", method: "GET", path: "/api/sessions/known/messages?limit=0", status: 400, want: "`limit` must be"},
		{name: "session made twice", method: "POST", path: "/api/sessions", body: `{"id":"known"}`, status: 409, want: "session_exists"},
		{name: "health", method: "GET", path: "/healthz", status: 200, want: "ok"},
		{name: "ready", method: "GET", path: "/readyz", status: 200, want: "ready"},
		{name: "metrics", method: "GET", path: "/metrics", status: 200, want: "tributary_sessions "},
	} {
		status, header, body := s.do(c.method, c.path, c.body, c.header...)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		if status >= 400 && strings.HasPrefix(c.path, "/api/chat") && !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: content type %s", c.name, header.Get("Content-Type"))
		}
	}
}

func TestSessionsRoundTrip(t *testing.T) {
	s := newStand(t, nil)
	status, _, body := s.do("POST", "/api/sessions", `{"id":"ü/ ?#%","title":"a title"}`)
	if status != 201 || !strings.Contains(body, `"title":"a title"`) {
		t.Fatalf("%d %s", status, body)
	}
	const path = "/api/sessions/%C3%BC%2F%20%3F%23%25"
	if status, _, body := s.do("POST", path+"/chat", submit("", "u1", "hello")); status != 200 || !strings.Contains(body, "[DONE]") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := s.do("GET", path+"/trace", ""); status != 200 || !strings.Contains(body, `"type":"stop"`) || strings.Contains(body, "message.delta") {
		t.Errorf("trace: %d %s", status, body)
	}
	if _, _, body := s.do("GET", path+"/trace?deltas=1", ""); !strings.Contains(body, "message.delta") {
		t.Errorf("trace with deltas: %s", body)
	}
	if _, _, body := s.do("GET", "/api/sessions", ""); !strings.Contains(body, `"ü/ ?#%"`) {
		t.Errorf("list %s", body)
	}
	if status, _, _ := s.do("DELETE", path, ""); status != 204 {
		t.Errorf("delete %d", status)
	}
	if status, _, _ := s.do("GET", path, ""); status != 404 {
		t.Errorf("after delete %d", status)
	}
}

func TestPermissionBySideEndpointOnAHeldStream(t *testing.T) {
	s := newStand(t, func(o *session.Options) { o.Approval = session.Hold })
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/chat", strings.NewReader(submit("c1", "u1", "approve")))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	var after []string
	asked := ""
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var chunk struct{ Type, ApprovalID string }
		_ = json.Unmarshal([]byte(data), &chunk)
		if asked != "" {
			after = append(after, chunk.Type)
		}
		if chunk.Type == "tool-approval-request" {
			asked = chunk.ApprovalID
			path := "/api/sessions/c1/permissions/" + asked
			if status, _, body := s.do("POST", path, `{"approved":false,"reason":"not today"}`); status != 200 || !strings.Contains(body, "not today") {
				t.Errorf("first answer %d %s", status, body)
			}
			if status, _, body := s.do("POST", path, `{"approved":true}`); status != 409 || !strings.Contains(body, "ada") {
				t.Errorf("second answer %d %s", status, body)
			}
		}
	}
	if asked == "" || !strings.Contains(strings.Join(after, " "), "tool-output-denied") {
		t.Errorf("asked %q, then %v", asked, after)
	}
}

// damaged is a store in which a session is damaged.
type damaged struct{ eventlog.Store }

func (damaged) Damage() eventlog.Damage {
	return eventlog.Damage{Sessions: map[string]string{"c1": "record 3 is damaged or lost"}}
}

func (d damaged) Get(ctx context.Context, id string) ([]byte, error) {
	if id == "c3" {
		return nil, &eventlog.DamageError{Session: id, What: "its entry"}
	}
	return d.Store.Get(ctx, id)
}

func TestDamageIsSaidAndNotHidden(t *testing.T) {
	s := newStandOn(t, damaged{memlog.New()}, nil)
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	s.do("POST", "/api/chat", submit("c2", "u1", "hello"))
	for path, want := range map[string]string{
		"/api/sessions/c1/messages": `"role":"system","parts":[{"type":"text","text":"Some of this conversation is lost: record 3 is damaged or lost."`,
		"/api/sessions/c1":          `"damaged":"record 3 is damaged or lost"`,
		"/api/sessions":             `"damaged":"record 3 is damaged or lost"`,
		"/readyz":                   `{"status":"ready","damaged_sessions":1}`,
		"/metrics":                  "tributary_sessions_damaged 1\n",
	} {
		if status, _, body := s.do("GET", path, ""); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, _, body := s.do("GET", "/api/sessions/c2/messages", ""); strings.Contains(body, "lost") {
		t.Errorf("the other session: %s", body)
	}
	for method, path := range map[string]string{"GET": "/api/sessions/c3/messages", "POST": "/api/sessions"} {
		if status, _, body := s.do(method, path, `{"id":"c3"}`); status != 500 || !strings.Contains(body, "session_damaged") || !strings.Contains(body, "its id cannot be given to another one") {
			t.Errorf("%s %s: %d %s", method, path, status, body)
		}
	}
}

func TestFollowTrace(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/api/sessions/c1/trace", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	s.do("POST", "/api/chat", submit("c1", "u2", "hello"))
	in := bufio.NewScanner(res.Body)
	stops := 0
	for stops < 2 && in.Scan() {
		if strings.Contains(in.Text(), `"type":"stop"`) {
			stops++
		}
	}
	if stops != 2 {
		t.Errorf("%d stops: %v", stops, in.Err())
	}
}
