package agentops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// The real server cannot run here: it is a set of Cloudflare workers with a database and sandboxes
// of their own. This server imitates its source, and also a gateway in its place. Frames have the
// shapes and the order of the recordings, and refusals are those of the real server.

// serverKind is a kind of server.
type serverKind string

const (
	gatewayServer  serverKind = "far" // another gateway, which takes prompts by socket
	agentOpsServer serverKind = "head"
)

func forEachKind(t *testing.T, test func(t *testing.T, e serverKind)) {
	t.Helper()
	for _, e := range []serverKind{gatewayServer, agentOpsServer} {
		t.Run(string(e), func(t *testing.T) { test(t, e) })
	}
}

// object is JSON.
type object = map[string]any

// user is somebody with a token.
type user struct{ id, name, role string }

// server is an Agent Ops server with one session.
type server struct {
	t    *testing.T
	era  serverKind
	http *http.Server
	conn *pipes

	mu          sync.Mutex
	id          string
	owner       string
	purpose     string
	visibility  string
	status      string
	users       map[string]user   // by token
	members     map[string]string // user id to role
	clients     []*client
	history     []object // messages
	queue       []*prompt
	running     *turn
	requests    map[string]*openRequest
	remembered  string // the text that a prompt asked it to remember
	n           int
	calls       []string
	got         []object // frames of clients, with "who"
	upgrades    []http.Header
	opened      int
	script      func(*turn)   // what turns do, if not the usual
	protocol    string        // the subprotocol to answer with
	noRunner    bool          // there is no runner: answers and aborts are accepted and lost
	saysNotBusy bool          // the first frame says "not busy" although a turn runs
	lag         time.Duration // before a prompt or a withdrawal that came by socket is handled
	wrap        func(http.Handler) http.Handler
	plays       sync.WaitGroup
	framesRead  atomic.Int64 // frames that clients have read
}

type client struct {
	conn *websocket.Conn
	user user
	out  chan []byte
}

type prompt struct {
	id, content, thread, chType, chID string
	by                                user
	files                             []any
	traceparent                       string
}

// openRequest is a question or an approval that waits.
type openRequest struct {
	id, kind string
	frame    object
	answer   chan string
}

// newServer starts a server on connections within the process.
func newServer(t *testing.T, e serverKind) *server {
	t.Helper()
	s := &server{
		t: t, era: e, conn: newPipes(), id: "0d9a6f52-7a35-4c0e-9a1e-51f7d0a7c001", owner: "u_ada", status: "running",
		users: map[string]user{
			"token-ada": {"u_ada", "Ada", "owner"}, "token-bob": {"u_bob", "Bob", "collaborator"},
			"token-vic": {"u_vic", "Vic", "viewer"}, "token-eve": {"u_eve", "Eve", ""},
		},
		members:  map[string]string{"u_bob": "collaborator", "u_vic": "viewer"},
		requests: map[string]*openRequest{},
	}
	if e == agentOpsServer {
		s.protocol = "valet"
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.http.Serve(s.conn) })
	t.Cleanup(func() {
		s.drop(websocket.StatusGoingAway)
		s.stopTurn()
		_ = s.http.Close()
		s.conn.closeAll()
		serving.Wait()
		s.plays.Wait()
	})
	return s
}

// pipes is a listener whose connections are net.Pipes.
type pipes struct {
	ready chan net.Conn
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	all   []net.Conn
}

func newPipes() *pipes { return &pipes{ready: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ready:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, pipe := net.Pipe()
	far := &frozen{Conn: pipe}
	select {
	case p.ready <- far:
		p.mu.Lock()
		p.all = append(p.all, far)
		p.mu.Unlock()
		return near, nil
	case <-p.done:
		return nil, fmt.Errorf("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// freeze makes the open connections carry no bytes any more, without closing them.
func (p *pipes) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all {
		c.(*frozen).ice.Store(true)
	}
}

// frozen is a connection that may stop carrying bytes.
type frozen struct {
	net.Conn
	ice atomic.Bool
}

func (f *frozen) Read(b []byte) (int, error) {
	for {
		n, err := f.Conn.Read(b)
		if err != nil || !f.ice.Load() {
			return n, err
		}
	}
}

func (f *frozen) Write(b []byte) (int, error) {
	if f.ice.Load() {
		return len(b), nil
	}
	return f.Conn.Write(b)
}

func (p *pipes) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all {
		_ = c.Close()
	}
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func notFound(w http.ResponseWriter, id string) {
	reply(w, http.StatusNotFound, object{"error": "Session with id '" + id + "' not found", "code": "NOT_FOUND"})
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	wrap := s.wrap
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	var h http.Handler = http.HandlerFunc(s.route)
	if wrap != nil {
		h = wrap(h)
	}
	h.ServeHTTP(w, r)
}

func (s *server) route(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	who, known := s.users[token]
	s.mu.Unlock()
	if !known {
		reply(w, http.StatusUnauthorized, object{"error": "Missing or invalid authentication", "code": "UNAUTHORIZED"})
		return
	}
	p := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/api/"), "/")
	for i := range p {
		p[i], _ = url.PathUnescape(p[i])
	}
	switch {
	case len(p) == 2 && p[0] == "auth" && p[1] == "me":
		reply(w, http.StatusOK, object{"user": object{"id": who.id, "name": who.name, "email": who.id + "@example.com", "role": "member"}, "providers": object{}})
	case len(p) == 3 && p[0] == "action-invocations" && s.era == agentOpsServer:
		s.decide(w, r, who, p[1], p[2])
	case p[0] == "sessions" && len(p) >= 2:
		s.session(w, r, who, p[1], strings.Join(p[2:], "/"))
	default:
		reply(w, http.StatusNotFound, object{"error": "Not found", "code": "NOT_FOUND"})
	}
}

// may is the check of access, as in the real server.
func (s *server) may(who user, id, role string) bool {
	rank := map[string]int{"viewer": 1, "collaborator": 2, "owner": 3}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case id != s.id:
		return false
	case who.id == s.owner:
		return true
	case s.purpose != "":
		return false
	case rank[s.members[who.id]] >= rank[role]:
		return true
	}
	return s.visibility == "org_joinable" || s.visibility == "org_visible" && role == "viewer"
}

func (s *server) session(w http.ResponseWriter, r *http.Request, who user, id, what string) {
	role := map[string]string{"POST prompt": "collaborator", "POST threads": "collaborator"}[r.Method+" "+what]
	if role == "" {
		role = "viewer"
	}
	switch r.Method + " " + what {
	case "POST prompt":
	case "POST threads", "GET threads/active":
		if s.era == gatewayServer {
			reply(w, http.StatusNotFound, object{"error": "Not found", "code": "NOT_FOUND"})
			return
		}
	case "GET ", "GET messages", "GET participants", "GET ws":
	default:
		reply(w, http.StatusNotFound, object{"error": "Not found", "code": "NOT_FOUND"})
		return
	}
	if !s.may(who, id, role) {
		notFound(w, id)
		return
	}
	switch r.Method + " " + what {
	case "GET ":
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, http.StatusOK, object{"session": object{
			"id": s.id, "userId": s.owner, "title": "Fix the date test", "purpose": orNil(s.purpose), "isOrchestrator": s.purpose == "orchestrator", "status": s.status,
		}, "doStatus": object{"runnerBusy": s.running != nil}})
	case "GET participants":
		s.participants(w)
	case "GET messages":
		s.messages(w, r)
	case "GET threads/active":
		reply(w, http.StatusOK, object{"thread": object{"id": "thread-active", "sessionId": id, "status": "active"}})
	case "POST threads":
		reply(w, http.StatusCreated, object{"id": "thread-new", "sessionId": id, "status": "active"})
	case "POST prompt":
		s.post(w, r, who)
	case "GET ws":
		s.upgrade(w, r, who)
	}
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *server) participants(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.purpose != "" {
		reply(w, http.StatusBadRequest, object{"error": "This session cannot be shared", "code": "VALIDATION_ERROR"})
		return
	}
	all := []object{{"id": "owner:" + s.owner, "userId": s.owner, "userEmail": s.owner + "@example.com", "role": "owner"}}
	for id, role := range s.members {
		all = append(all, object{"id": "p_" + id, "userId": id, "userEmail": id + "@example.com", "role": role})
	}
	reply(w, http.StatusOK, object{"participants": all})
}

func (s *server) messages(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []object{}
	for _, m := range s.history {
		if at := m["createdAt"].(int64); at > after {
			c := maps.Clone(m)
			c["createdAt"] = time.Unix(at, 0).UTC().Format(time.RFC3339)
			all = append(all, c)
		}
	}
	reply(w, http.StatusOK, object{"messages": all})
}

// post is POST …/prompt.
func (s *server) post(w http.ResponseWriter, r *http.Request, who user) {
	var body object
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &body); err != nil {
		reply(w, http.StatusInternalServerError, object{"error": "Internal server error", "code": "INTERNAL_ERROR"})
		return
	}
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	if status == "terminated" || status == "archived" || status == "error" {
		reply(w, http.StatusConflict, object{"error": `{"error":"Session is ` + status + `"}`})
		return
	}
	content, _ := body["content"].(string)
	files, _ := body["attachments"].([]any)
	if body["interrupt"] == true && content == "" && len(files) == 0 {
		s.note(object{"type": "abort"}, who, "rest")
		s.abort()
		reply(w, http.StatusOK, object{"success": true, "aborted": true})
		return
	}
	if content == "" && len(files) == 0 {
		reply(w, http.StatusBadRequest, object{"error": `{"error":"Missing content or attachments"}`})
		return
	}
	s.note(body, who, "rest")
	s.prompt(readPrompt(body, who, r.Header.Get("Traceparent")))
	reply(w, http.StatusOK, object{"success": true})
}

func readPrompt(body object, who user, traceparent string) *prompt {
	word := func(key string) string { v, _ := body[key].(string); return v }
	p := &prompt{content: word("content"), thread: word("threadId"), chType: word("channelType"), chID: word("channelId"), by: who, traceparent: traceparent}
	p.files, _ = body["attachments"].([]any)
	if p.thread != "" && p.chType == "" {
		p.chType, p.chID = "thread", p.thread
	}
	return p
}

func (s *server) note(body object, who user, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := object{"who": who.id, "how": how}
	maps.Copy(c, body)
	s.got = append(s.got, c)
}

// decide answers an approval by REST: only the owner may.
func (s *server) decide(w http.ResponseWriter, r *http.Request, who user, id, verb string) {
	var body object
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	a := s.requests[id]
	s.mu.Unlock()
	switch {
	case a == nil:
		reply(w, http.StatusNotFound, object{"error": "Invocation not found", "code": "NOT_FOUND"})
	case who.id != s.owner:
		reply(w, http.StatusForbidden, object{"error": "Not authorized to approve this invocation", "code": "FORBIDDEN"})
	default:
		s.note(object{"type": verb, "id": id, "reason": body["reason"]}, who, "rest")
		s.resolve(id, verb, who)
		reply(w, http.StatusOK, object{"ok": true})
	}
}

// resolve answers an open request.
func (s *server) resolve(id, answer string, who user) {
	s.mu.Lock()
	a := s.requests[id]
	delete(s.requests, id)
	s.mu.Unlock()
	if a == nil {
		return // as the real server does
	}
	resolution := object{"resolvedBy": who.id}
	if a.kind == "approval" {
		resolution["actionId"] = answer
	} else {
		resolution["value"] = answer
	}
	s.broadcast(object{"type": "interactive_prompt_resolved", "promptId": id, "promptType": a.kind, "resolution": resolution})
	if !locked(s, func() bool { return s.noRunner }) {
		a.answer <- answer
	}
}

// expire ends an open request as expired.
func (s *server) expire(id string) {
	s.mu.Lock()
	a := s.requests[id]
	delete(s.requests, id)
	s.mu.Unlock()
	s.broadcast(object{"type": "interactive_prompt_expired", "promptId": id, "promptType": a.kind, "context": object{}})
	a.answer <- "__expired__"
}

// upgrade is the client's socket.
func (s *server) upgrade(w http.ResponseWriter, r *http.Request, who user) {
	if r.URL.Query().Get("role") != "client" {
		http.Error(w, "Missing or invalid role parameter", http.StatusBadRequest)
		return
	}
	if s.protocol != "" {
		w.Header().Set("Sec-WebSocket-Protocol", s.protocol)
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	conn.SetReadLimit(1 << 20) // as the network in front of the real server
	c := &client{conn: conn, user: who, out: make(chan []byte, 4096)}
	s.mu.Lock()
	s.opened++
	s.upgrades = append(s.upgrades, r.Header.Clone())
	s.greet(c)
	s.clients = append(s.clients, c)
	s.mu.Unlock()
	s.broadcast(object{"type": "user.joined", "userId": who.id, "connectedUsers": []any{}})
	ctx, cancel := context.WithCancel(r.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case data := <-c.out:
				if conn.Write(ctx, websocket.MessageText, data) != nil {
					return
				}
				s.framesRead.Add(1)
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			break
		}
		s.onFrame(c, data)
	}
	cancel()
	writing.Wait()
	_ = conn.CloseNow()
	s.note(object{"type": "(closed)"}, who, "socket")
	s.mu.Lock()
	s.clients = slices.DeleteFunc(s.clients, func(o *client) bool { return o == c })
	s.mu.Unlock()
}

// greet sends the first frames of a connection. The caller holds s.mu.
func (s *server) greet(c *client) {
	session := object{"id": s.id, "status": s.status, "workspace": "acme-web", "title": "Fix the date test"}
	data := object{"sandboxRunning": true, "runnerConnected": !s.noRunner, "runnerBusy": s.running != nil && !s.saysNotBusy, "promptsQueued": len(s.queue), "connectedClients": len(s.clients) + 1}
	data["connectedUsers"] = []string{c.user.id}
	data["pendingPrompt"] = nil
	if len(s.queue) > 0 {
		data["pendingPrompt"] = object{"messageId": s.queue[0].id, "content": s.queue[0].content}
	}
	s.sendTo(c, object{"type": "init", "session": session, "data": data})
	if s.era == agentOpsServer {
		s.sendTo(c, object{"type": "models", "models": []any{}})
		s.sendTo(c, object{"type": "audit_log", "entry": object{"eventType": "session.started", "summary": "Session started"}})
	}
	for _, a := range s.requests {
		replayed := object{}
		for k, v := range a.frame {
			if k != "expiresAt" {
				replayed[k] = v
			}
		}
		s.sendTo(c, replayed)
	}
}

// sendTo sends a frame to one client. The caller holds s.mu.
func (s *server) sendTo(c *client, frame object) {
	data := encodeFrame(s.t, frame)
	select {
	case c.out <- data:
	default:
		s.t.Error("a client of the server does not read")
	}
}

// encodeFrame writes a frame with its type in front, as the real server does.
func encodeFrame(t *testing.T, frame object) []byte {
	rest := object{}
	for k, v := range frame {
		if k != "type" {
			rest[k] = v
		}
	}
	data, err := json.Marshal(rest)
	if err != nil {
		t.Error(err)
	}
	head := fmt.Sprintf(`{"type":%q`, frame["type"])
	if len(rest) == 0 {
		return []byte(head + "}")
	}
	return append([]byte(head+","), data[1:]...)
}

func (s *server) broadcast(frame object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcastLocked(frame)
}

// broadcastLocked is broadcast for a caller that holds s.mu.
func (s *server) broadcastLocked(frame object) {
	for _, c := range s.clients {
		s.sendTo(c, frame)
	}
}

// sendRaw sends bytes that need not be JSON.
func (s *server) sendRaw(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.out <- data
	}
}

// drop closes all sockets with a code, as a restart does. Code 0 is no close frame.
func (s *server) drop(code websocket.StatusCode) {
	s.mu.Lock()
	clients := slices.Clone(s.clients)
	s.mu.Unlock()
	for _, c := range clients {
		if code == 0 {
			_ = c.conn.CloseNow()
		} else {
			_ = c.conn.Close(code, "")
		}
	}
}

// onFrame handles a frame of a client.
func (s *server) onFrame(c *client, data []byte) {
	var f object
	if json.Unmarshal(data, &f) != nil {
		s.mu.Lock()
		s.sendTo(c, object{"type": "error", "message": "Invalid JSON"})
		s.mu.Unlock()
		return
	}
	s.note(f, c.user, "socket")
	word := func(key string) string { v, _ := f[key].(string); return v }
	switch word("type") {
	case "prompt":
		p := readPrompt(f, c.user, word("traceparent"))
		if p.content == "" && len(p.files) == 0 {
			s.mu.Lock()
			s.sendTo(c, object{"type": "error", "message": "Missing content or attachments"})
			s.mu.Unlock()
			return
		}
		time.Sleep(s.lag)
		s.prompt(p)
	case "answer":
		s.resolve(word("questionId"), fmt.Sprint(f["answer"]), c.user)
	case "approve-action", "deny-action":
		verb, _ := strings.CutSuffix(word("type"), "-action")
		s.resolve(word("invocationId"), verb, user{id: s.owner})
	case "abort":
		s.abort()
	case "queue.withdraw":
		time.Sleep(s.lag)
		s.withdraw()
	case "ping":
		s.mu.Lock()
		s.sendTo(c, object{"type": "pong"})
		s.mu.Unlock()
	}
}

// locked reads something of the server's state.
func locked[T any](s *server, read func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return read()
}

// revoke makes a token invalid and closes its sockets with a code. Code 0 is no close frame.
func (s *server) revoke(token string, code websocket.StatusCode) {
	s.mu.Lock()
	who := s.users[token]
	delete(s.users, token)
	clients := slices.Clone(s.clients)
	s.mu.Unlock()
	for _, c := range clients {
		switch {
		case c.user != who:
		case code == 0:
			_ = c.conn.CloseNow()
		default:
			_ = c.conn.Close(code, "")
		}
	}
}

// connected returns the users whose sockets are open.
func (s *server) connected() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		all = append(all, c.user.id)
	}
	slices.Sort(all)
	return all
}

// The tests read the server's state by these methods.
func (s *server) runningTurn() *turn { return locked(s, func() *turn { return s.running }) }

func (s *server) httpCalls() []string {
	return locked(s, func() []string { return slices.Clone(s.calls) })
}

func (s *server) received() []object {
	return locked(s, func() []object { return slices.Clone(s.got) })
}

func (s *server) storedMessages() []object {
	return locked(s, func() []object { return slices.Clone(s.history) })
}

func (s *server) upgradeHeaders() []http.Header {
	return locked(s, func() []http.Header { return slices.Clone(s.upgrades) })
}

func (s *server) openRequests() map[string]*openRequest {
	return locked(s, func() map[string]*openRequest { return maps.Clone(s.requests) })
}

// sockets returns how many sockets were opened, and how many are open.
func (s *server) sockets() (opened, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, len(s.clients)
}

// frames lists what clients sent of a type.
func (s *server) frames(typ string) (all []object) {
	for _, f := range s.received() {
		if f["type"] == typ {
			all = append(all, f)
		}
	}
	return all
}
