package agentops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/session"
)

// agentopsClient is a client that speaks the frames of an Agent Ops browser.
type agentopsClient struct {
	t    testing.TB
	conn *websocket.Conn
	seen []wire.Frame
	at   int // what of seen was looked at
}

// within bounds everything that is waited for.
const within = 20 * time.Second

func (s stand) socket(path string, o *websocket.DialOptions) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	return websocket.Dial(ctx, strings.Replace(s.url, "http", "ws", 1)+path, o) //nolint:bodyclose // it is the connection
}

// open makes a session with the demo agent and connects to it.
func (s stand) look(id string, header ...string) *agentopsClient {
	s.t.Helper()
	if status, _, body := s.do("POST", "/api/sessions", `{"id":"`+id+`"}`); status != 201 {
		s.t.Fatalf("%d %s", status, body)
	}
	return s.join("/api/sessions/"+id+"/ws?role=client", header...)
}

func (s stand) join(path string, header ...string) *agentopsClient {
	s.t.Helper()
	conn, _, err := s.socket(path, &websocket.DialOptions{HTTPHeader: headers(header)})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return &agentopsClient{t: s.t, conn: conn}
}

func (c *agentopsClient) send(frame string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	if err := c.conn.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *agentopsClient) prompt(text string) {
	c.t.Helper()
	c.send(`{"type":"prompt","content":"` + text + `"}`)
}

// next reads a frame, or returns how the socket ended.
func (c *agentopsClient) next() (wire.Frame, error) {
	if c.at < len(c.seen) {
		c.at++
		return c.seen[c.at-1], nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	_, data, err := c.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	f, err := wire.Decode(wire.ToBrowser, data)
	if err != nil {
		c.t.Fatalf("%s: %v", data, err)
	}
	if u, unknown := f.(wire.Unknown); unknown {
		c.t.Errorf("no browser knows %s", u.Raw)
	}
	c.seen = append(c.seen, f)
	c.at = len(c.seen)
	return f, nil
}

// frame reads up to a frame of a type that fits.
func frame[F wire.Frame](c *agentopsClient, fits func(F) bool) F {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.t.Fatalf("%v, after %s", err, c.types())
		}
		if f, is := f.(F); is && (fits == nil || fits(f)) {
			return f
		}
	}
}

func (c *agentopsClient) types() string {
	var all []string
	for _, f := range c.seen {
		all = append(all, f.Type())
	}
	return strings.Join(all, " ")
}

func finished(f wire.MessageUpdated) bool {
	for _, p := range f.Data.Parts {
		if p.Type == wire.PartFinish {
			return true
		}
	}
	return false
}

func notBusy(f wire.Status) bool { return f.Data.RunnerBusy != nil && !*f.Data.RunnerBusy }

func partOf(m wire.Message, typ string) wire.Part {
	for _, p := range m.Parts {
		if p.Type == typ {
			return p
		}
	}
	return wire.Part{}
}

// chunks is the text of a message as it was streamed.
func (c *agentopsClient) chunks(id string) string {
	var text strings.Builder
	for _, f := range c.seen {
		if chunk, is := f.(wire.Chunk); is && chunk.MessageID == id {
			text.WriteString(string(chunk.Content))
		}
	}
	return text.String()
}

func texts(m wire.Message) string {
	var text strings.Builder
	for _, p := range m.Parts {
		text.WriteString(string(p.Text))
	}
	return text.String()
}

func TestA02_ABrowserOfAgentOpsSeesATurn(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	init := frame[wire.Init](c, nil)
	if init.Session.ID != "w1" || init.Session.Messages != nil || init.Data.RunnerBusy || init.Data.ConnectedClients != 1 {
		t.Errorf("init %+v", init)
	}
	if joined := frame[wire.UserJoined](c, nil); joined.UserID != "ada" {
		t.Errorf("joined %+v", joined)
	}
	c.prompt("tool")
	user := frame(c, func(f wire.MessageAdded) bool { return f.Data.Role == wire.RoleUser })
	if user.Data.Content != "tool" || user.Data.AuthorID != "ada" {
		t.Errorf("user's message %+v", user)
	}
	start := frame(c, func(f wire.MessageAdded) bool { return f.Data.Role == wire.RoleAssistant })
	end := frame(c, finished)
	if end.Data.ID != start.Data.ID || partOf(end.Data, wire.PartFinish).Reason != wire.ReasonEndTurn {
		t.Errorf("end %+v", end)
	}
	if tool := partOf(end.Data, wire.PartToolCall); tool.Status != wire.ToolCompleted || len(tool.Result) == 0 || len(tool.Args) == 0 {
		t.Errorf("tool %+v", tool)
	}
	if got := c.chunks(start.Data.ID); got == "" || got != texts(end.Data) {
		t.Errorf("chunks %q, whole %q", got, texts(end.Data))
	}
	frame(c, notBusy)
}

func TestH22_ManyDeltasByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	c.prompt("long")
	end := frame(c, finished)
	n := 0
	for _, f := range c.seen {
		if _, is := f.(wire.Chunk); is {
			n++
		}
	}
	if got := c.chunks(end.Data.ID); n < 1000 || got != texts(end.Data) || len(strings.Fields(got)) < 2000 {
		t.Errorf("%d chunks, %d words", n, len(strings.Fields(got)))
	}
}

func TestD13_ApprovalByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	for _, answer := range []string{"approve-action", "deny-action"} {
		c.prompt("approve")
		ask := frame[wire.InteractivePrompt](c, nil)
		if ask.Prompt.Type != wire.AskApproval || ask.Prompt.ExpiresAt == 0 || ask.Prompt.Context.ToolID != "shell" || len(ask.Prompt.Context.Params) == 0 {
			t.Errorf("asked %+v", ask)
		}
		viewer := s.join("/api/sessions/w1/ws?role=client", "X-Test-Role", "collaborator", "X-Test-Principal", "bob")
		again := frame[wire.InteractivePrompt](viewer, nil)
		if again.Prompt.ID != ask.Prompt.ID {
			t.Errorf("who comes later is asked %+v", again)
		}
		viewer.send(`{"type":"approve-action","invocationId":"` + ask.Prompt.ID + `"}`)
		if no := frame[wire.Error](viewer, nil); !strings.Contains(no.Message, "this needs admin") {
			t.Errorf("a collaborator may approve: %+v", no)
		}
		c.send(`{"type":"` + answer + `","invocationId":"` + ask.Prompt.ID + `","reason":"so"}`)
		resolved := frame[wire.InteractivePromptResolved](c, nil)
		if resolved.PromptID != ask.Prompt.ID || resolved.Resolution.ActionID+"-action" != answer || resolved.Resolution.ResolvedBy != "ada" {
			t.Errorf("resolved %+v", resolved)
		}
		end := frame(c, finished)
		want := map[string]string{"approve-action": wire.ToolCompleted, "deny-action": wire.ToolError}[answer]
		if tool := partOf(end.Data, wire.PartToolCall); tool.Status != want {
			t.Errorf("after %s the call is %+v", answer, tool)
		}
		// Late answers are left alone without a word.
		c.send(`{"type":"deny-action","invocationId":"` + ask.Prompt.ID + `"}`)
		frame(c, notBusy)
		_ = viewer.conn.CloseNow()
	}
	for _, f := range c.seen {
		if e, is := f.(wire.Error); is {
			t.Errorf("error %+v", e)
		}
	}
}

func TestD13_QuestionByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	c.prompt("ask")
	ask := frame[wire.InteractivePrompt](c, nil)
	if ask.Prompt.Type != wire.AskQuestion || len(ask.Prompt.Actions) != 3 {
		t.Errorf("asked %+v", ask)
	}
	c.send(`{"type":"answer","questionId":"` + ask.Prompt.ID + `","answer":"` + ask.Prompt.Actions[1].Label + `"}`)
	if r := frame[wire.InteractivePromptResolved](c, nil); r.Resolution.Value != ask.Prompt.Actions[1].Label {
		t.Errorf("resolved %+v", r)
	}
	if end := frame(c, finished); !strings.Contains(texts(end.Data), ask.Prompt.Actions[1].Label) {
		t.Errorf("end %+v", end)
	}
}

func TestH18_AbortByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	c.prompt("slow")
	frame[wire.Chunk](c, nil)
	c.send(`{"type":"abort"}`)
	if idle := frame[wire.AgentStatus](c, nil); idle.Status != wire.StatusIdle {
		t.Errorf("status %+v", idle)
	}
	if end := frame(c, finished); partOf(end.Data, wire.PartFinish).Reason != wire.ReasonCanceled {
		t.Errorf("end %+v", end)
	}
	frame(c, notBusy)
	if _, _, body := s.do("GET", "/api/sessions/w1", ""); !strings.Contains(body, `"state":"idle"`) {
		t.Errorf("the turn goes on: %s", body)
	}
}

func TestE08_QueueByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	c.prompt("slow")
	frame[wire.Chunk](c, nil)
	other := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob")
	frame[wire.UserJoined](other, nil)
	other.send(`{"type":"prompt","content":"hello","threadId":"th1"}`)
	queued := frame(c, func(f wire.QueueState) bool { return f.Data.Pending != nil })
	if queued.Data.Pending.Content != "hello" || queued.Data.Pending.ThreadID != "th1" {
		t.Errorf("queue %+v", queued.Data.Pending)
	}
	if st := frame(c, func(f wire.Status) bool { return f.Data.PromptQueued }); *st.Data.QueuePosition != 1 || st.Data.QueueReason != wire.QueueBusy {
		t.Errorf("queued %+v", st)
	}
	c.prompt("echo me")
	frame(c, func(f wire.QueueState) bool { return f.Data.Pending != nil && f.Data.Pending.Content == "echo me" })
	c.send(`{"type":"queue.withdraw"}`) // one's own, not bob's, who was first
	if w := frame[wire.QueueWithdrawn](c, nil); w.Data.Content != "echo me" {
		t.Errorf("withdrawn %+v", w)
	}
	if next := frame[wire.QueueState](c, nil); next.Data.Pending == nil || next.Data.Pending.Content != "hello" {
		t.Errorf("queue %+v", next)
	}
	c.send(`{"type":"abort"}`)
	frame(c, finished)
	user := frame(c, func(f wire.MessageAdded) bool { return f.Data.AuthorID == "bob" })
	if user.Data.ID != queued.Data.Pending.MessageID || user.Data.ThreadID != "th1" || user.Data.ChannelType != "thread" {
		t.Errorf("the prompt that waited is %+v", user)
	}
	if st := frame(c, func(f wire.Status) bool { return f.Data.PromptDequeued }); *st.Data.Remaining != 0 {
		t.Errorf("dequeued %+v", st)
	}
	if end := frame(c, finished); end.Data.ThreadID != "th1" {
		t.Errorf("end %+v", end)
	}
}

func TestE07_TwoClientsSeeTheSame(t *testing.T) {
	s := newStand(t, nil)
	one := s.look("w1")
	frame[wire.UserJoined](one, nil)
	two := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob")
	if joined := frame(one, func(f wire.UserJoined) bool { return f.UserID == "bob" }); len(joined.ConnectedUsers) != 2 {
		t.Errorf("joined %+v", joined)
	}
	frame[wire.UserJoined](two, nil)
	one.prompt("all")
	a, b := frame(one, finished), frame(two, finished)
	if a.Data.ID != b.Data.ID || texts(a.Data) != texts(b.Data) || one.chunks(a.Data.ID) != two.chunks(a.Data.ID) {
		t.Errorf("one sees %+v, two %+v", a, b)
	}
	third := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob")
	frame[wire.UserJoined](third, nil)
	_ = two.conn.Close(websocket.StatusNormalClosure, "")
	_ = third.conn.Close(websocket.StatusNormalClosure, "")
	if left := frame[wire.UserLeft](one, nil); left.UserID != "bob" || len(left.ConnectedUsers) != 1 {
		t.Errorf("left %+v", left)
	}
}

func TestE32_WhoeverConnectsInTheMiddleHasTheText(t *testing.T) {
	s := newStand(t, nil)
	one := s.look("w1")
	one.prompt("slow")
	for range 5 {
		frame[wire.Chunk](one, nil)
	}
	two := s.join("/api/sessions/w1/ws?role=client")
	so := frame[wire.MessageUpdated](two, nil)
	if len(so.Data.Parts) != 1 || so.Data.Parts[0].Text == "" {
		t.Fatalf("so far %+v", so)
	}
	one.send(`{"type":"abort"}`)
	end := frame(two, finished)
	if got := texts(so.Data) + two.chunks(end.Data.ID); got != texts(end.Data) {
		t.Errorf("had %q and got the rest of %q", got, texts(end.Data))
	}
}

func TestB06_RolesByWebSocket(t *testing.T) {
	s := newStand(t, nil)
	owner := s.look("w1")
	owner.prompt("slow")
	frame[wire.Chunk](owner, nil)
	viewer := s.join("/api/sessions/w1/ws?role=client", "X-Test-Role", "viewer", "X-Test-Principal", "vic")
	for _, said := range []string{
		`{"type":"prompt","content":"hello"}`, `{"type":"abort"}`, `{"type":"answer","questionId":"q","answer":"x"}`,
		`{"type":"approve-action","invocationId":"x"}`, `{"type":"deny-action","invocationId":"x"}`,
		`{"type":"queue.withdraw"}`, `{"type":"queue.replace","content":"x"}`,
	} {
		viewer.send(said)
		if no := frame[wire.Error](viewer, nil); !strings.Contains(no.Message, "viewer") {
			t.Errorf("%s: %+v", said, no)
		}
	}
	viewer.send(`{"type":"ping"}`)
	frame[wire.Pong](viewer, nil)
	owner.send(`{"type":"abort"}`)
	frame(viewer, finished)
}

// The code is that of RFC 6455, 8.1.
func TestATextThatIsNotUTF8EndsTheConnection(t *testing.T) {
	c := newStand(t, nil).look("w1")
	c.send("\xff\xfe")
	for {
		if _, err := c.next(); err != nil {
			if status := websocket.CloseStatus(err); status != websocket.StatusInvalidFramePayloadData {
				t.Errorf("the connection ends with %v", err)
			}
			return
		}
	}
}

//evidence:for limit-attachments
func TestFramesThatCannotBeMeant(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	for said, want := range map[string]string{
		`{"type":"prompt"`:                   "Invalid JSON",
		`nonsense`:                           "Invalid JSON",
		`{"type":"prompt","content":""}`:     "Missing content or attachments",
		`{"type":"answer","questionId":"q"}`: "Missing questionId or answer",
		`{"type":"approve-action"}`:          "Missing invocationId",
		`{"type":"revert","messageId":"m"}`:  "There is no such message in this session.",
		`{"type":"revert"}`:                  "Missing messageId",
		`{"type":"diff"}`:                    "does not offer diff",
		`{"type":"prompt","attachments":[{"type":"file","mime":"image/png","url":"https://x.example/a.png"}]}`:                                       "attachments were left out",
		`{"type":"prompt","attachments":[{"type":"file","mime":"text/html","url":"data:text/html;base64,PGI+"}]}`:                                    "attachments were left out",
		`{"type":"prompt","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,%%%"}]}`:                                     "attachments were left out",
		`{"type":"prompt","content":"x","attachments":[{"type":"file","mime":"image/png","url":"https://x.example/ @/etc/passwd"}]}`:                 "The address of the file",
		`{"type":"prompt","content":"x","attachments":[{"type":"file","mime":"image/png @/etc/passwd","url":"data:image/png;base64,AA=="}]}`:         "The media type of the file",
		`{"type":"prompt","content":"x","attachments":[{"type":"file","mime":"image/png","url":"data:image/png@/etc/passwd;base64,AA=="}]}`:          "The media type of the file",
		`{"type":"prompt","content":"x","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,AA==","filename":"a\u202e"}]}`: "The name of the file",
	} {
		c.send(`{"type":"of the future"}`)
		c.send(`{"no":"type"}`)
		c.send(said)
		if e := frame[wire.Error](c, nil); !strings.Contains(e.Message, want) {
			t.Errorf("%s: %+v", said, e)
		}
	}
	if n := strings.Count(c.types(), "error"); n != 15 {
		t.Errorf("%d errors", n)
	}
	c.send(`{"type":"prompt","content":"hello","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgo="},{"type":"file","mime":"x/y","url":"data:x/y;base64,AA=="}]}`)
	frame[wire.Error](c, nil)
	user := frame(c, func(f wire.MessageAdded) bool { return f.Data.Role == wire.RoleUser })
	if len(user.Data.Parts) != 1 || user.Data.Parts[0].MIMEType != "image/png" {
		t.Errorf("user's message %+v", user)
	}
	frame(c, finished)
}

func TestG09_WebSocketsThatAreRefused(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"w1"}`)
	for path, want := range map[string]int{
		"/api/sessions/w1/ws":                        400,
		"/api/sessions/w1/ws?role=king":              400,
		"/api/sessions/none/ws?role=client":          404,
		"/api/sessions/w1/ws?role=runner&token=x":    503,
		"/api/sessions/none/ws?role=runner&token=xy": 503,
	} {
		_, res, err := s.socket(path, nil) //nolint:bodyclose // there is none
		if err == nil || res == nil || res.StatusCode != want {
			t.Errorf("%s: %v %v, want %d", path, res, err, want)
		}
	}
	if status, header, body := s.do("GET", "/api/sessions/w1/ws?role=client", ""); status != 426 || header.Get("Upgrade") != "websocket" || !strings.Contains(body, "upgrade_required") {
		t.Errorf("no upgrade: %d %v %s", status, header, body)
	}
}

func TestWhatAgentOpsHasBesideItsSocket(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"w1"}`)
	for _, path := range []string{"GET /threads", "POST /threads", "GET /threads/active"} {
		method, rest, _ := strings.Cut(path, " ")
		for id, want := range map[string]int{"w1": 501, "none": 404} {
			if status, _, body := s.do(method, "/api/sessions/"+id+rest, `{"content":"hello"}`); status != want {
				t.Errorf("%s of %s: %d %s", path, id, status, body)
			}
		}
	}
	for _, end := range []string{"approve", "deny"} {
		if status, _, body := s.do("POST", "/api/action-invocations/x/"+end, ""); status != 501 {
			t.Errorf("%s: %d %s", end, status, body)
		}
	}
}

func TestB05_WebSocketsAndTheGuard(t *testing.T) {
	guard, err := access.New(access.Config{
		Listen: "127.0.0.1:0", Public: gateway.Public, Refuse: gateway.Refuse, AllowOrigins: []string{"https://app.example"},
		Tokens: []access.Token{{Name: "vic", Token: "view-012345678901234567890", Role: access.Viewer}, {Name: "ada", Token: "own-012345678901234567890", Role: access.Admin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newStand(t, nil, func(o *gateway.Options) { o.Guard = guard.Wrap })
	if status, _, body := s.do("POST", "/api/sessions", `{"id":"w1"}`, "Authorization", "Bearer own-012345678901234567890"); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	const path = "/api/sessions/w1/ws?role=client"
	for _, c := range []struct {
		name   string
		header http.Header
		offers []string
		status int
		picked string
	}{
		{"no token", nil, []string{"valet"}, 401, ""},
		{"a wrong one", nil, []string{"valet", "bearer.guess"}, 401, ""},
		{"by subprotocol", nil, []string{"valet", "bearer.view-012345678901234567890"}, 101, "valet"},
		{"February", nil, []string{"agent-ops", "bearer.view-012345678901234567890"}, 101, "agent-ops"},
		{"both", nil, []string{"agent-ops", "valet", "bearer.view-012345678901234567890"}, 101, "valet"},
		{"by header", http.Header{"Authorization": {"Bearer view-012345678901234567890"}}, nil, 101, ""},
		{"a page that may", http.Header{"Origin": {"https://app.example"}}, []string{"valet", "bearer.view-012345678901234567890"}, 101, "valet"},
		{"a page that may not", http.Header{"Origin": {"https://evil.example"}}, []string{"valet", "bearer.view-012345678901234567890"}, 403, ""},
	} {
		conn, res, err := s.socket(path, &websocket.DialOptions{HTTPHeader: c.header, Subprotocols: c.offers}) //nolint:bodyclose // it is the connection
		if res == nil || res.StatusCode != c.status {
			t.Fatalf("%s: %v %v", c.name, res, err)
		}
		if err != nil {
			continue
		}
		if conn.Subprotocol() != c.picked {
			t.Errorf("%s: subprotocol %q", c.name, conn.Subprotocol())
		}
		client := &agentopsClient{t: t, conn: conn}
		if init := frame[wire.Init](client, nil); init.Session.Messages != nil {
			t.Errorf("%s: init %+v", c.name, init)
		}
		_ = conn.CloseNow()
	}
	if _, res, err := s.socket("/api/sessions/w1/ws?role=runner&token=own-012345678901234567890", nil); err == nil || res.StatusCode != 503 { //nolint:bodyclose // there is none
		t.Errorf("a runner without an agent for it: %v %v", res, err)
	}
}

// A client of Agent Ops prompts, stops, and reads the history by HTTP.
func TestPromptsAndMessagesByHTTP(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	post := func(body string, want int) {
		t.Helper()
		if status, _, said := s.do("POST", "/api/sessions/w1/prompt", body); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, said, want)
		}
	}
	post(`{"content":"tool"}`, 200)
	end := frame(c, finished)
	_, _, body := s.do("GET", "/api/sessions/w1/messages?after=0", "")
	var history struct{ Messages []wire.Message }
	if err := json.Unmarshal([]byte(body), &history); err != nil || len(history.Messages) != 2 ||
		history.Messages[0].Content != "tool" || texts(history.Messages[1]) != texts(end.Data) {
		t.Errorf("%v, history %s", err, body)
	}
	if _, _, body := s.do("GET", fmt.Sprintf("/api/sessions/w1/messages?after=%d", time.Now().Unix()+60), ""); !strings.Contains(body, `{"messages":[]}`) {
		t.Errorf("messages of later: %s", body)
	}
	post(`{"content":"slow"}`, 200)
	frame[wire.Chunk](c, nil)
	post(`{"interrupt":true}`, 200)
	if end := frame(c, finished); end.Data.Parts[len(end.Data.Parts)-1].Reason != wire.ReasonCanceled {
		t.Errorf("it was stopped, and ended as %+v", end.Data.Parts)
	}
	post(`{}`, 400)
	post(`nothing`, 400)
	if status, _, _ := s.do("POST", "/api/sessions/w1/prompt", `{"content":"hello"}`, "X-Test-Role", "viewer"); status != 403 && status != 404 {
		t.Errorf("a viewer prompts: %d", status)
	}
	if status, _, _ := s.do("POST", "/api/sessions/none/prompt", `{"content":"hello"}`); status != 404 {
		t.Errorf("a prompt to no session: %d", status)
	}
}

func TestASessionThatIsDeletedEndsItsSockets(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	frame[wire.UserJoined](c, nil)
	if status, _, body := s.do("DELETE", "/api/sessions/w1", ""); status != 204 {
		t.Fatal(status, body)
	}
	frame(c, func(f wire.Status) bool { return f.Data.Status == wire.SessionTerminated })
	if _, err := c.next(); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("the socket ends with %v", err)
	}
}

func TestABrowserHearsOfANewTitle(t *testing.T) {
	s := newStand(t, nil)
	c := s.look("w1")
	frame[wire.UserJoined](c, nil)
	if status, _, body := s.do("PATCH", "/api/sessions/w1", `{"title":"Rivers"}`); status != 200 {
		t.Fatal(status, body)
	}
	if f := frame[wire.Title](c, nil); f.Title != "Rivers" {
		t.Errorf("the title is %q", f.Title)
	}
}

// TestF08_WhoLooksByWebSocketIsAFollower: a turn whose last follower was cut has
// its grace and then ends; one that somebody still looks at goes on.
func TestF08_WhoLooksByWebSocketIsAFollower(t *testing.T) {
	s := newStand(t, func(o *session.Options) { o.GracePeriod, o.GraceLimit = 50*time.Millisecond, 100*time.Millisecond })
	one := s.look("w1")
	one.prompt("slow")
	frame[wire.Chunk](one, nil)
	two := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob")
	frame[wire.Chunk](two, nil)
	_ = one.conn.CloseNow()
	for range 20 { // far longer than the grace
		frame[wire.Chunk](two, nil)
	}
	_ = two.conn.CloseNow()
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		// The list is no request for the session, and does not lengthen the grace.
		if _, _, body := s.do("GET", "/api/sessions", ""); strings.Contains(body, `"state":"idle"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the turn goes on though nobody follows it")
		}
	}
	_, _, body := s.do("GET", "/api/sessions/w1/messages", "")
	if !strings.Contains(body, "nobody was connected") {
		t.Errorf("history %s", body)
	}
}

//evidence:for limit-frame-unread
func TestF03_ASocketThatIsNotReadIsCut(t *testing.T) {
	s := newStand(t, nil)
	fast := s.look("w1")
	frame[wire.UserJoined](fast, nil)
	slow := s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob")
	frame(fast, func(f wire.UserJoined) bool { return f.UserID == "bob" })
	// The network between holds some megabytes; turns of large calls are more.
	for turn := range 300 {
		fast.prompt("big")
		frame(fast, finished)
		frame(fast, notBusy)
		for _, f := range fast.seen {
			if left, is := f.(wire.UserLeft); is {
				t.Logf("%s was cut in turn %d", left.UserID, turn)
				return
			}
		}
		fast.seen, fast.at = nil, 0
	}
	t.Errorf("who does not read is not cut: %v", slow.conn)
}

// The test has a clock of its own, because the pieces of a frame have deadlines.
//
//evidence:for limit-frame
func TestE37_FramesHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, func(o *gateway.Options) { o.Read = 300 * time.Millisecond })
		defer end()
		if status, body := p.ask(post("/api/sessions", `{"id":"w1"}`)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		c := p.join("/api/sessions/w1/ws?role=client")
		c.send(`{"type":"prompt","content":"echo ` + strings.Repeat("x", 2<<20) + `"}`)
		frame(c, finished)
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		if err := c.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"prompt","content":"`+strings.Repeat("x", 33<<20)+`"}`)); err == nil {
			t.Error("it is not cut in the middle")
		}
		for {
			_, err := c.next()
			if err == nil {
				continue
			}
			if status := websocket.CloseStatus(err); status != websocket.StatusMessageTooBig && status != -1 {
				t.Errorf("the socket ends with %v", err)
			}
			break
		}
		again := p.join("/api/sessions/w1/ws?role=client")
		frame[wire.Init](again, nil)
		_ = again.conn.CloseNow()
	})
}

// join connects by a pipe, whose time is the test's.
func (p *pipes) join(path string, header ...string) *agentopsClient {
	p.t.Helper()
	o := &websocket.DialOptions{HTTPHeader: headers(header), HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			p.conns <- server
			return client, nil
		},
	}}}
	ctx, cancel := context.WithTimeout(p.t.Context(), within)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://x"+path, o) //nolint:bodyclose // it is the connection
	if err != nil {
		p.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	return &agentopsClient{t: p.t, conn: conn}
}

//evidence:for limit-frame-time
func TestAFrameThatStopsIsGivenUp(t *testing.T) {
	s := newStand(t, nil) // which waits 300 ms for a piece
	c := s.look("w1")
	frame[wire.UserJoined](c, nil)
	w, err := c.conn.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(strings.Repeat(`{"type":"prompt","content":"`, 1000))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.next(); err == nil {
		t.Error("a frame that never ends is waited for")
	}
}

func TestSocketsEndWithTheGateway(t *testing.T) {
	handler, closeAll := newHandler(t, nil)
	s := serveStand(t, handler, func() {})
	c := s.look("w1")
	frame[wire.UserJoined](c, nil)
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := c.next(); err != nil {
				ended <- err
				return
			}
		}
	}()
	closeAll()
	if err := <-ended; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket ends with %v", err)
	}
}

//evidence:for limit-frames
func TestTooManyFrames(t *testing.T) {
	s := newStand(t, nil, func(o *gateway.Options) { o.Limits = limit.Options{Requests: 1, Burst: 10} })
	c := s.look("w1")
	for range 20 {
		c.send(`{"type":"ping"}`)
	}
	if e := frame[wire.Error](c, nil); !strings.Contains(e.Message, "too many requests") {
		t.Errorf("error %+v", e)
	}
}

func TestB05_ASocketEndsWithItsToken(t *testing.T) {
	var until time.Time
	s := newStand(t, func(o *session.Options) {
		a := o.Agents["demo"]
		a.Runtime = demo.Runtime{Pace: 100 * time.Millisecond} // 50 s of talk
		o.Agents["demo"] = a
	}, expiringAt(func() time.Time { return until }))
	until = time.Now().Add(5 * time.Second)
	c := s.look("w1")
	c.prompt("slow")
	frame[wire.Chunk](c, nil)
	if e := frame[wire.Error](c, nil); !strings.Contains(e.Message, "sign-in has expired") {
		t.Errorf("error %+v", e)
	}
	for {
		if _, err := c.next(); err != nil {
			if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
				t.Errorf("the socket ends with %v", err)
			}
			break
		}
	}
	if _, _, body := s.do("GET", "/api/sessions/w1", ""); !strings.Contains(body, `"state":"running"`) {
		t.Errorf("the turn has ended with the token: %s", body)
	}
	s.do("POST", "/api/sessions/w1/stop", "")
}

//evidence:for limit-membership
func TestB07_ASessionOfOthersByWebSocket(t *testing.T) {
	s := newStand(t, nil, privately)
	s.do("POST", "/api/sessions", `{"id":"w1"}`)
	const path = "/api/sessions/w1/ws?role=client"
	bob := []string{"X-Test-Role", "collaborator", "X-Test-Principal", "bob"}
	header := http.Header{"X-Test-Role": {"collaborator"}, "X-Test-Principal": {"bob"}}
	if _, res, err := s.socket(path, &websocket.DialOptions{HTTPHeader: header}); err == nil || res.StatusCode != 404 { //nolint:bodyclose // there is none
		t.Fatalf("a stranger: %v %v", res, err)
	}
	if status, _, body := s.do("PUT", "/api/sessions/w1/members/bob", `{"role":"viewer"}`); status >= 300 {
		t.Fatalf("%d %s", status, body)
	}
	c := s.join(path, bob...)
	frame[wire.UserJoined](c, nil)
	c.prompt("hello")
	if e := frame[wire.Error](c, nil); !strings.Contains(e.Message, "viewer") {
		t.Errorf("a viewer prompts: %+v", e)
	}
	s.do("PUT", "/api/sessions/w1/members/bob", `{"role":"collaborator"}`)
	c.prompt("hello")
	frame(c, finished)
	s.do("DELETE", "/api/sessions/w1/members/bob", "")
	c.prompt("hello")
	if e := frame[wire.Error](c, nil); !strings.Contains(e.Message, "no such session") {
		t.Errorf("who is no member any more prompts: %+v", e)
	}
}

//evidence:for limit-frame-write
func TestF05_ASocketThatAnswersNoPingIsCut(t *testing.T) {
	s := newStand(t, nil, func(o *gateway.Options) { o.Timing.Keepalive, o.Timing.Write = 50*time.Millisecond, time.Second })
	c := s.look("w1")
	frame[wire.UserJoined](c, nil)
	s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", "bob") // who reads nothing answers no ping
	frame(c, func(f wire.UserLeft) bool { return f.UserID == "bob" })
}

//evidence:for limit-users
func TestUsersThatAreNamedHaveABound(t *testing.T) {
	s := newStand(t, nil)
	first := s.look("w1")
	frame[wire.UserJoined](first, nil)
	const all = 105
	for i := 1; i < all; i++ {
		s.join("/api/sessions/w1/ws?role=client", "X-Test-Principal", fmt.Sprint("user", i))
	}
	for range all - 1 {
		if now := frame[wire.UserJoined](first, nil); len(now.ConnectedUsers) > 100 {
			t.Errorf("%d users are named", len(now.ConnectedUsers))
		}
	}
	if init := frame[wire.Init](s.join("/api/sessions/w1/ws?role=client"), nil); init.Data.ConnectedClients != all+1 || len(init.Data.ConnectedUsers) != 100 {
		t.Errorf("%d clients, %d users", init.Data.ConnectedClients, len(init.Data.ConnectedUsers))
	}
}
