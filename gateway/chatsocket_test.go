package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// frame is a frame of the gateway.
type frame struct {
	Type, RequestID, ErrorText string
	Sequence                   *int
	Status                     int
	Headers                    http.Header
	Data                       string
	Chunk                      map[string]any
}

func (f frame) chunk() string { kind, _ := f.Chunk["type"].(string); return kind }

// verySlowly makes the demo agent take 20 s for "slow", which no test waits for.
func verySlowly(o *session.Options) {
	slowly(o)
	a := o.Agents["demo"]
	a.Runtime = demo.Runtime{Pace: 40 * time.Millisecond}
	o.Agents["demo"] = a
}

// socket is a client of the chat's WebSocket.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
}

func (s stand) socket(query string, header ...string) socket {
	s.t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	conn, _, err := websocket.Dial(s.t.Context(), s.url+"/api/chat"+query, &websocket.DialOptions{HTTPHeader: h}) //nolint:bodyclose // its documentation: never needed
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return socket{s.t, conn}
}

func (s socket) write(frame string) {
	s.t.Helper()
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		s.t.Fatal(err)
	}
}

// send is a frame of the stock client that sends a prompt.
func (s socket) send(request, id, user, text string) {
	s.t.Helper()
	s.write(`{"type":"send","requestId":"` + request + `","headers":{},"body":{},` + submit(id, user, text)[1:])
}

func (s socket) resume(request, id string) {
	s.t.Helper()
	s.write(`{"type":"resume","requestId":"` + request + `","id":"` + id + `","headers":{},"body":{}}`)
}

func (s socket) next() (frame, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var f frame
	_, data, err := s.conn.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	return f, err
}

// until reads the frames of a request to its last one, and checks their sequence.
func (s socket) until(request string) (all []frame) {
	s.t.Helper()
	chunks := 0
	for {
		f, err := s.next()
		if err != nil {
			s.t.Fatalf("%v after %v", err, all)
		}
		if f.RequestID != request {
			continue
		}
		all = append(all, f)
		switch f.Type {
		case "chunk":
			if f.Sequence == nil || *f.Sequence != chunks {
				s.t.Fatalf("chunk %d is %+v", chunks, f)
			}
			chunks++
		case "start":
		default:
			return all
		}
	}
}

// shown is what frames say: the types, with those of the chunks, and the sentence.
func shown(frames []frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s %s%s,", f.Type, f.chunk(), f.ErrorText)
	}
	return b.String()
}

// closed reads to the end of the socket, and returns the frames that came before and the code.
func (s socket) closed() ([]frame, websocket.StatusCode, string) {
	s.t.Helper()
	var all []frame
	for {
		f, err := s.next()
		if err != nil {
			end, _ := errors.AsType[websocket.CloseError](err)
			return all, end.Code, end.Reason
		}
		all = append(all, f)
	}
}

func TestASocketCarriesTheChunksOfTheHTTPRoute(t *testing.T) {
	s := newStand(t, nil)
	c := s.socket("")
	c.send("r1", "c1", "u1", "tool")
	frames := c.until("r1")
	_, _, body := s.do("GET", "/api/chat/c1/stream?client=7", "")
	var want []string
	for line := range strings.Lines(body) {
		if data, is := strings.CutPrefix(strings.TrimSpace(line), "data: {"); is {
			want = append(want, "{"+data)
		}
	}
	if len(frames) != len(want)+1 || frames[len(want)].Type != "end" {
		t.Fatalf("%d frames for %d chunks: %s", len(frames), len(want), shown(frames))
	}
	for i, one := range want {
		var chunk map[string]any
		if err := json.Unmarshal([]byte(one), &chunk); err != nil || fmt.Sprint(chunk) != fmt.Sprint(frames[i].Chunk) {
			t.Errorf("chunk %d is %v, not %s", i, frames[i].Chunk, one)
		}
	}

	c.resume("r2", "c1")
	if again := c.until("r2"); again[0].Type != "start" || shown(again[1:]) != shown(frames) {
		t.Errorf("the resume is %s", shown(again))
	}
	c.resume("r3", "nothing")
	if none := shown(c.until("r3")); none != "no-active ," {
		t.Errorf("a resume of nothing: %s", none)
	}
}

func TestOneSocketCarriesManyChats(t *testing.T) {
	s := newStand(t, slowly)
	c := s.socket("")
	c.send("a", "c1", "u1", "hello")
	c.send("b", "c2", "u1", "hello")
	seen, texts := map[string]int{}, map[string]string{} // words that wait together are one chunk
	for ends := 0; ends < 2; {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == "end" {
			ends++
			continue
		}
		if f.Sequence == nil || *f.Sequence != seen[f.RequestID] {
			t.Errorf("the chunk after %d of %s is %+v", seen[f.RequestID], f.RequestID, f)
		}
		seen[f.RequestID]++
		words, _ := f.Chunk["delta"].(string)
		texts[f.RequestID] += words
	}
	if texts["a"] == "" || texts["a"] != texts["b"] {
		t.Errorf("the texts are %q", texts)
	}
}

// The chunks are those that a client of the profile knows: another chunk would end the socket.
func TestASocketIsWrittenForItsProfile(t *testing.T) {
	s := newStand(t, nil)
	for query, approvals := range map[string]bool{"": true, "?client=7": true, "?client=5": false} {
		c := s.socket(query)
		c.send("r", "c"+query[max(0, len(query)-1):], "u1", "approve")
		if got := strings.Contains(shown(c.until("r")), "tool-approval-request"); got != approvals {
			t.Errorf("%q: approvals are %v", query, got)
		}
	}
	for query, want := range map[string]string{"?client=4": "Client=\"4\"", "?format=legacy": "leave `format` out"} {
		conn, res, err := websocket.Dial(t.Context(), s.url+"/api/chat"+query, nil) //nolint:bodyclose // its documentation: never needed
		if err == nil {
			_ = conn.CloseNow()
			t.Fatalf("%s opens a socket", query)
		}
		body := make([]byte, 500)
		n, _ := res.Body.Read(body)
		if res.StatusCode != 400 || !strings.Contains(string(body[:n]), want) {
			t.Errorf("%s: %d %s", query, res.StatusCode, body[:n])
		}
	}
}

func TestARequestThatIsRefusedEndsWithItsSentence(t *testing.T) {
	s := newStand(t, slowly)
	c := s.socket("")
	for frame, want := range map[string]string{
		`{"type":"send","requestId":"r","id":"x","messages":[]}`:                            "There is no user message",
		`{"type":"send","requestId":"r",` + submit("", "u", "hi")[1:]:                       "The session id is missing",
		`{"type":"send","requestId":"r","body":{"agent":"x"},` + submit("n", "u", "hi")[1:]: "There is no such agent",
		`{"type":"send","requestId":"r","id":7}`:                                            "`id`",
		`{"type":"send","requestId":"r","id":`:                                              "JSON",
		`{"type":"send","requestId":"r","messages":7}`:                                      "`messages` must be a list",
		`{"type":"send","requestId":"r","body":[]}`:                                         "`body` must be an object.",
		`{"type":"speak","requestId":"r"}`:                                                  "send, resume, get or abort",
	} {
		c.write(frame)
		if got := c.until("r"); len(got) != 1 || got[0].Type != "error" || !strings.Contains(got[0].ErrorText, want) {
			t.Errorf("%s: %s", frame, shown(got))
		}
	}
	viewer := s.socket("", "X-Test-Role", "viewer")
	viewer.send("r", "c1", "u1", "hello")
	if got := viewer.until("r"); !strings.Contains(got[0].ErrorText, "this needs collaborator") {
		t.Errorf("a viewer's prompt: %s", shown(got))
	}
}

// The frames of a request with an address are the response that HTTP has: its status, its
// headers, and its body with the ids of events and the comments.
func TestASocketCarriesWholeResponses(t *testing.T) {
	s := newStand(t, nil)
	c := s.socket("")
	prompt := submit("c/1", "u1", "hello")
	for i, one := range []struct {
		frame, header, body, last string
		status                    int
	}{
		{frame: `"get","path":"/api/chat/c%2F1/stream"`, status: 204, last: "end"},
		{frame: `"send","path":"/api/chat?client=4",` + prompt[1:len(prompt)-1], status: 400, body: "Client=\"4\"", last: "end"},
		{frame: `"send","path":"/api/chat?client=7","agent":"x",` + prompt[1:len(prompt)-1], status: 400, header: "unknown_agent", body: "There is no such agent", last: "end"},
		{frame: `"send","path":"/api/chat?client=7",` + prompt[1:len(prompt)-1], status: 200, header: "v1", body: "data: [DONE]\n\n", last: "end"},
		{frame: `"get","path":"/api/chat/c%2F1/stream?client=7"`, status: 200, header: "v1", body: "data: [DONE]\n\n", last: "end"},
		{frame: `"get","path":"/api/sessions/c%2F1/events"`, status: 200, header: "text/event-stream", body: "id: "},
		{frame: `"get","path":"/api/events?limit=5"`, status: 200, header: "text/event-stream", body: `"type":"list"`},
		{frame: `"get","path":"/api/events?limit=x"`, status: 400, header: "application/json", body: "`limit`", last: "end"},
		{frame: `"get","path":"/api/sessions/none/events"`, status: 404, body: "unknown_session", last: "end"},
		{frame: `"get","path":"/api/sessions"`, status: 404, body: "not_found", last: "end"},
		{frame: `"get","path":"/api/chat"`, status: 404, header: "not_found", last: "end"},
		{frame: `"get","path":"://"`, status: 404, header: "not_found", last: "end"},
		{frame: `"get"`, status: 404, last: "error"},
	} {
		request := strconv.Itoa(i)
		c.write(`{"requestId":"` + request + `","type":` + one.frame + `}`)
		var body strings.Builder
		for {
			f, err := c.next()
			if err != nil {
				t.Fatalf("%s: %v after %s", one.frame, err, body.String())
			}
			if f.RequestID != request {
				continue
			}
			if f.Type == "head" && (f.Status != one.status || !strings.Contains(fmt.Sprint(f.Headers), one.header)) {
				t.Errorf("%s: %d %v", one.frame, f.Status, f.Headers)
			}
			body.WriteString(f.Data)
			if f.Type == one.last || one.last == "" && strings.Contains(body.String(), one.body) {
				break
			}
		}
		if !strings.Contains(body.String(), one.body) {
			t.Errorf("%s: the body is %s", one.frame, body.String())
		}
	}
}

func TestAFrameWithoutARequestClosesTheSocket(t *testing.T) {
	s := newStand(t, nil)
	for _, frame := range []string{`{}`, `hello`, `[]`, `{"type":"send"}`, `{"type":"send","requestId":"` + strings.Repeat("x", 1001) + `"}`} {
		c := s.socket("")
		c.write(frame)
		if got, code, reason := c.closed(); len(got) > 0 || code != websocket.StatusPolicyViolation || reason == "" {
			t.Errorf("%.30s: %s %d %q", frame, shown(got), code, reason)
		}
	}
}

func TestTwoRequestsWithOneIDCloseTheSocket(t *testing.T) {
	s := newStand(t, slowly)
	c := s.socket("")
	c.send("twice", "c1", "u1", "slow")
	c.send("twice", "c2", "u1", "hello")
	if _, code, _ := c.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d", code)
	}
}

// An abort is a client that leaves, and no stop: the turn ends only if turns without
// subscribers do.
func TestAnAbortIsAClosedConnection(t *testing.T) {
	for ending, want := range map[session.OnDisconnect]string{session.Stop: "idle", session.Detach: "running"} {
		s := newStand(t, func(o *session.Options) { verySlowly(o); o.OnDisconnect = ending })
		c := s.socket("")
		c.send("r1", "c1", "u1", "slow")
		if f, err := c.next(); err != nil || f.chunk() != "start" {
			t.Fatal(f, err)
		}
		c.write(`{"type":"abort","requestId":"r1"}`)
		c.write(`{"type":"abort","requestId":"unknown"}`)
		s.state("c1", want)
		c.send("r2", "c2", "u1", "hello")
		if got := shown(c.until("r2")); !strings.HasSuffix(got, "chunk finish,end ,") {
			t.Errorf("after an abort: %s", got)
		}
	}
}

func TestTheEndOfASocketEndsItsRequests(t *testing.T) {
	s := newStand(t, func(o *session.Options) { verySlowly(o); o.OnDisconnect = session.Stop })
	c := s.socket("")
	c.send("r1", "c1", "u1", "slow")
	c.send("r2", "c2", "u1", "slow")
	for range 2 {
		_, _ = c.next()
	}
	s.state("c1", "running")
	s.state("c2", "running")
	_ = c.conn.CloseNow()
	s.state("c1", "idle")
	s.state("c2", "idle")
}

// state waits until a session has a state. It reads the list: a request for the session itself
// would prolong the grace of its turn.
func (s stand) state(id, want string) {
	s.t.Helper()
	var body string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, _, body = s.do("GET", "/api/sessions", "")
		var list struct{ Sessions []struct{ ID, State string } }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			s.t.Fatal(err, body)
		}
		for _, one := range list.Sessions {
			if one.ID == id && one.State == want {
				return
			}
		}
	}
	s.t.Fatalf("%s is not %s: %s", id, want, body)
}

// Answers come as they do by HTTP: in the message of the assistant.
func TestAnApprovalIsAnsweredOverTheSocket(t *testing.T) {
	for approved, want := range map[bool]string{true: "tool-output-available", false: "tool-output-denied"} {
		s := newStand(t, nil)
		c := s.socket("")
		c.send("r1", "c1", "u1", "approve")
		var message, tool, call, approval string
		for _, f := range c.until("r1") {
			switch f.chunk() {
			case "start":
				message, _ = f.Chunk["messageId"].(string)
			case "tool-input-available":
				tool, _ = f.Chunk["toolName"].(string)
			case "tool-approval-request":
				call, _ = f.Chunk["toolCallId"].(string)
				approval, _ = f.Chunk["approvalId"].(string)
			}
		}
		c.write(fmt.Sprintf(`{"type":"send","requestId":"r2","id":"c1","trigger":"submit-message","messageId":%q,"headers":{},"body":{},"messages":[
			{"id":%q,"role":"assistant","parts":[{"type":"tool-%s","toolCallId":%q,"state":"approval-responded","input":{},"approval":{"id":%q,"approved":%v}}]}]}`,
			message, message, tool, call, approval, approved))
		if got := shown(c.until("r2")); !strings.Contains(got, want) || !strings.HasSuffix(got, "end ,") {
			t.Errorf("approved %v: %s", approved, got)
		}
	}
}

// A token's end and its revocation end the streams of a socket with the usual sentence.
// No frame counts afterwards, and the turn goes on.
//
//evidence:for promise-jwt
func TestTheEndOfAccessClosesTheSocket(t *testing.T) {
	t.Parallel()
	streams := make(chan struct{})
	for name, end := range map[string]func(r *http.Request) (*http.Request, context.CancelFunc){
		"expired": func(r *http.Request) (*http.Request, context.CancelFunc) {
			p := access.Principal{ID: "ada", Role: access.Admin, Expires: time.Now().Add(5 * time.Second)}
			return r.WithContext(access.With(r.Context(), p)), func() {}
		},
		"revoked": func(r *http.Request) (*http.Request, context.CancelFunc) {
			ctx, revoke := context.WithCancelCause(r.Context())
			go func() {
				select {
				case <-streams:
				case <-ctx.Done():
				}
				revoke(uistream.ErrExpired)
			}()
			return r.WithContext(access.With(ctx, access.Principal{ID: "ada", Role: access.Admin})), func() { revoke(nil) }
		},
	} {
		s := newStandOn(t, memlog.New(), func(o *session.Options) { verySlowly(o); o.OnDisconnect = session.Detach }, func(o *gateway.Options) {
			o.Guard = func(next http.Handler) http.Handler {
				open := believing(t, next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !access.Upgrades(r) {
						open.ServeHTTP(w, r)
						return
					}
					r, done := end(r)
					defer done()
					next.ServeHTTP(w, r)
				})
			}
		})
		c := s.socket("")
		c.send("r", "c1", "u1", "slow")
		if f, err := c.next(); err != nil || f.chunk() != "start" {
			t.Fatal(f, err)
		}
		if name == "revoked" {
			close(streams)
		}
		frames, code, _ := c.closed()
		const want = "chunk error,chunk finish,end ,"
		if got := shown(frames); !strings.HasSuffix(got, want) || code != websocket.StatusPolicyViolation {
			t.Errorf("%s: %d %s", name, code, got)
		} else if text := fmt.Sprint(frames[len(frames)-3].Chunk); !strings.Contains(text, "Your sign-in has expired") {
			t.Errorf("%s: %s", name, text)
		}
		s.state("c1", "running")
	}
}

func TestASocketEndsWithTheGateway(t *testing.T) {
	handler, end := newHandler(t, memlog.New(), slowly, nil)
	s := serveStand(t, handler, end)
	c := s.socket("")
	c.send("r", "c1", "u1", "slow")
	if f, err := c.next(); err != nil || f.chunk() != "start" {
		t.Fatal(f, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); end() }()
	if got, code, _ := c.closed(); code != websocket.StatusGoingAway || !strings.HasSuffix(shown(got), "end ,") {
		t.Errorf("%d %s", code, shown(got))
	}
	<-ended
}

// The requests of a socket count as those by HTTP do.
//
//evidence:for limit-streams
func TestRequestsOfASocketAreLimited(t *testing.T) {
	s := limited(t, limit.Options{Streams: 2, Requests: 1, Burst: 6}, func(o *session.Options) { verySlowly(o); o.OnDisconnect = session.Detach })
	c := s.socket("")
	c.send("r1", "c1", "u1", "slow")
	if f, err := c.next(); err != nil || f.chunk() != "start" {
		t.Fatal(f, err)
	}
	c.send("r2", "c2", "u1", "hello")
	if got := shown(c.until("r2")); !strings.Contains(got, "You have 2 streams open") {
		t.Errorf("the third stream: %s", got)
	}
	var got string
	for i := range 40 { // the bound lets one through each second
		c.resume(fmt.Sprint("many", i), "nothing")
		got += shown(c.until(fmt.Sprint("many", i)))
	}
	if !strings.Contains(got, "too many requests") {
		t.Errorf("too many requests: %s", got)
	}
}

func TestASocketHasABoundOfOpenRequests(t *testing.T) {
	s := newStand(t, func(o *session.Options) { verySlowly(o); o.OnDisconnect = session.Stop })
	c := s.socket("")
	c.send("first", "c1", "u1", "slow")
	if f, err := c.next(); err != nil || f.chunk() != "start" {
		t.Fatal(f, err)
	}
	for i := range 100 {
		c.resume(fmt.Sprint("r", i), "c1")
	}
	if got := shown(c.until("r99")); !strings.Contains(got, "too many open requests") {
		t.Errorf("one more: %s", got)
	}
}

// The stock client sends the whole history each time. A large frame is read as a large body is.
func TestAFrameMayHoldALargeHistory(t *testing.T) {
	s := newStand(t, nil)
	c := s.socket("")
	old := strings.Repeat(`{"id":"m","role":"assistant","parts":[{"type":"text","text":"`+strings.Repeat("word ", 20_000)+`"}]},`, 60)
	prompt := submit("c1", "u1", "hello")[1:]
	c.write(`{"type":"send","requestId":"r",` + strings.Replace(prompt, `"messages":[`, `"messages":[`+old, 1))
	if got := shown(c.until("r")); !strings.HasSuffix(got, "chunk finish,end ,") {
		t.Errorf("6 MB: %s", got)
	}
}

// A message that is on record does not count as an upload, however long its turn runs.
func TestALargeMessageOfARunningTurnHoldsNoOtherUp(t *testing.T) {
	s := limited(t, limit.Options{Memory: 10 << 20}, func(o *session.Options) { verySlowly(o); o.OnDisconnect = session.Stop })
	c := s.socket("")
	large := func(request, id, text string) {
		c.write(`{"type":"send","requestId":"` + request + `",` + strings.Replace(submit(id, "u1", text)[1:], `"parts":[`,
			`"parts":[{"type":"file","mediaType":"text/plain","url":"data:text/plain,`+strings.Repeat("x", 2<<20)+`"},`, 1))
	}
	for _, id := range []string{"c1", "c2"} { // the oldest is not counted
		large(id, id, "slow")
		s.state(id, "running")
	}
	large("r", "c3", "hello")
	if got := shown(c.until("r")); !strings.HasSuffix(got, "chunk finish,end ,") {
		t.Errorf("the third message: %s", got)
	}
	s.state("c1", "running")
	s.state("c2", "running")
}

// A client that reads nothing is cut, and holds no turn up.
//
//evidence:for promise-slow-client
func TestASocketThatNobodyReadsIsCut(t *testing.T) {
	var log quiet
	s := newStandOn(t, memlog.New(), func(o *session.Options) { o.OnDisconnect = session.Detach }, func(o *gateway.Options) {
		o.Timing.Write, o.Timing.Keepalive = 300*time.Millisecond, time.Minute // no ping cuts it first
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	// Little of the answer fits into the system's buffers.
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, is := conn.(*net.TCPConn); is {
			err = errors.Join(err, tcp.SetReadBuffer(4<<10))
		}
		return conn, err
	}}
	defer transport.CloseIdleConnections()
	conn, _, err := websocket.Dial(t.Context(), s.url+"/api/chat", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}) //nolint:bodyclose // its documentation: never needed
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // it is cut
	c := socket{t, conn}
	c.send("r", "c1", "u1", "huge 6")
	s.state("c1", "idle")
	for end := time.Now().Add(time.Minute); !strings.Contains(log.text(), "stream was cut"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the socket is not cut: %s", log.text())
		}
	}
	if _, _, stop := s.do("GET", "/api/sessions/c1/trace?kind=stop", ""); !strings.Contains(stop, `"completed"`) { // the answer itself may take longer than 300 ms
		t.Errorf("the turn is gone: %s", stop)
	}
}
