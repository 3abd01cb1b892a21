package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// elsewhere stands in for an agent whose sessions live on another server: it judges
// tokens as that server would, which cannot run here, and says what an echo says.
type elsewhere struct {
	echo.Runtime
	mu      sync.Mutex
	asked   []string
	bearers []string
	fails   error
	hangs   bool
	opens   agent.Runtime // in place of the echo
	mulls   bool          // over tokens that nobody knows, and over no others
}

const (
	adaToken = "sk_ada_0123456789abcdef"
	vicToken = "sk_vic_0123456789abcdef"
	annToken = "sk_ann_0123456789abcdef" // whose server tells no name
)

func (e *elsewhere) Find(ctx context.Context, id string, c agent.Caller) (agent.Found, error) {
	e.mu.Lock()
	e.asked = append(e.asked, id)
	fails, hangs, mulls := e.fails, e.hangs, e.mulls
	e.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return agent.Found{}, ctx.Err()
	}
	if fails != nil {
		return agent.Found{}, fails
	}
	found := map[string]agent.Found{
		adaToken: {By: "ada", Role: "owner", Title: "Remote"},
		vicToken: {By: "vic", Role: "viewer"},
		annToken: {Role: "collaborator"},
	}
	one, known := found[c.Bearer]
	if mulls && !known {
		<-ctx.Done()
		return agent.Found{}, ctx.Err()
	}
	switch {
	case !known:
		return agent.Found{}, agent.ErrUnauthorized
	case !strings.HasPrefix(id, "remote"):
		return agent.Found{}, fmt.Errorf("session %q: %w", id, agent.ErrNoSession)
	}
	if strings.HasSuffix(id, "-workflow") {
		one.Kind = "workflow"
	}
	return one, nil
}

func (e *elsewhere) Open(ctx context.Context, h agent.Host, c agent.Config) (agent.Session, error) {
	if e.opens != nil {
		s, err := e.opens.Open(ctx, h, c)
		return introduced{s, e}, err
	}
	s, err := e.Runtime.Open(ctx, h, c)
	return listening{s, e}, err
}

type listening struct {
	agent.Session
	to *elsewhere
}

func (l listening) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	l.to.mu.Lock()
	l.to.bearers = append(l.to.bearers, p.Caller.Bearer)
	l.to.mu.Unlock()
	return l.Session.Prompt(ctx, p, b)
}

func (e *elsewhere) set(fails error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fails = fails
}

func (e *elsewhere) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

func (e *elsewhere) last() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bearers[len(e.bearers)-1]
}

// quiet collects a log.
type quiet struct {
	mu sync.Mutex
	bytes.Buffer
}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Buffer.Write(p)
}

func (q *quiet) text() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.String()
}

// newPassThroughStand is a gateway behind a real guard, with the agents demo and ops, of which
// ops judges unknown tokens.
func newPassThroughStand(t *testing.T, ops *elsewhere, log *quiet, adapt ...func(*gateway.Options)) stand {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	guard, err := access.New(access.Config{
		Listen: "127.0.0.1:0", PassThrough: "ops", Public: gateway.Public, Refuse: gateway.Refuse,
		Tokens: []access.Token{{Name: "ci", Token: "ci-012345678901234567890", Role: access.Collaborator}, {Name: "root", Token: "root-012345678901234567890", Role: access.Admin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return newStandOn(t, memlog.New(), func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: ops, Cwd: t.TempDir(), Policy: permission.Default()}
		o.Logger = logger
	}, append([]func(*gateway.Options){func(o *gateway.Options) { o.PassThrough, o.Guard, o.Logger = "ops", guard.Wrap, logger }}, adapt...)...)
}

func (s stand) bring(token, method, path, body string) (int, string) {
	s.t.Helper()
	status, _, text := s.do(method, path, body, "Authorization", "Bearer "+token)
	return status, text
}

// An unknown session is looked up with the caller's own token, and what the other side
// says counts: 401 and 404 as they are, the role as it is.
func TestB04_B05_B07_PassThrough(t *testing.T) {
	ops, log := &elsewhere{}, &quiet{}
	s := newPassThroughStand(t, ops, log)
	prompt := submit("", "u1", "hello")
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		says                      string
	}{
		{adaToken, "POST", "/api/sessions/none/chat", prompt, 404, "There is no such session."},
		{"sk_nobody_0123456789", "POST", "/api/sessions/remote-1/chat", prompt, 401, "The token is not valid here"},
		{vicToken, "POST", "/api/sessions/remote-1/chat", prompt, 404, "There is no such session."},
		{vicToken, "GET", "/api/sessions/remote-1/messages", "", 200, "[]"},
		{vicToken, "POST", "/api/sessions/remote-1/stop", "", 403, "Your role is viewer; this needs collaborator."},
		{adaToken, "POST", "/api/sessions/remote-2/stop", "", 200, `{"turn":null,"stopped":false}`},
		{adaToken, "GET", "/api/sessions/remote-3/chat/stream", "", 204, ""},
		{adaToken, "GET", "/api/sessions/none/chat/stream", "", 404, "There is no such session."},
		{adaToken, "GET", "/api/sessions/none/messages", "", 404, "unknown_session"},
		{adaToken, "POST", "/api/sessions/remote-4/chat", submit("", "u1", "over there"), 200, `there"}`},
		{annToken, "POST", "/api/chat", submit("remote-5", "u1", "by the body"), 200, `body"}`},
		{adaToken, "POST", "/api/chat", submit("none", "u1", "hello"), 404, "There is no such session."},
		{adaToken, "GET", "/api/sessions", "", 403, "Your role is none"},
		{adaToken, "POST", "/api/sessions", `{"id":"remote-9"}`, 403, "Your role is none"},
		{adaToken, "GET", "/api/agents", "", 403, "Your role is none"},
		{adaToken, "GET", "/metrics", "", 403, "Your role is none"},
		{adaToken, "GET", "/api/sessions/a%00b", "", 400, "cannot be printed"},
		// The gateway looks up no other user.
		{"ci-012345678901234567890", "POST", "/api/sessions/remote-6/chat", prompt, 404, "There is no such session."},
	} {
		if status, body := s.bring(c.token, c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%.6s %s %s: %d %s", c.token, c.method, c.path, status, body)
		}
	}
	if ops.last() != annToken {
		t.Errorf("the agent got %q", ops.last())
	}
	_, body := s.bring("root-012345678901234567890", "GET", "/api/sessions/remote-4", "")
	if !strings.Contains(body, `"agent":"ops"`) || !strings.Contains(body, `"owner":"ops:ada"`) || !strings.Contains(body, `"title":"Remote"`) {
		t.Errorf("the session is %s", body)
	}
	_, records := s.bring("root-012345678901234567890", "GET", "/api/sessions/remote-4/trace?deltas=1", "")
	if !strings.Contains(records, `"by":"ops:ada"`) {
		t.Errorf("the trace is %s", records)
	}
	_, unnamed := s.bring("root-012345678901234567890", "GET", "/api/sessions/remote-5/trace", "")
	if !strings.Contains(unnamed, `"by":"ops:token-`) {
		t.Errorf("the trace is %s", unnamed)
	}
	_, numbers := s.bring("root-012345678901234567890", "GET", "/metrics", "")
	for _, text := range []string{log.text(), records, unnamed, numbers, body} {
		for _, token := range []string{adaToken, vicToken, annToken, "sk_nobody"} {
			if strings.Contains(text, token) {
				t.Errorf("the token %s is in\n%s", token, text)
			}
		}
	}
}

// A token goes only to the agent that its sender came through, and only if nobody here
// knows it.
func TestB04_TheBearerGoesNowhereElse(t *testing.T) {
	ops, log := &elsewhere{}, &quiet{}
	s := newPassThroughStand(t, ops, log)
	if status, body := s.bring("ci-012345678901234567890", "POST", "/api/chat?agent=ops", submit("local", "u1", "hello")); status != 200 || ops.last() != "" {
		t.Errorf("%d %s, and the agent got %q", status, body, ops.last())
	}
	s.bring("ci-012345678901234567890", "POST", "/api/chat", submit("remote-demo", "u1", "hello")) // of another agent, whatever its name
	if status, body := s.bring(adaToken, "GET", "/api/sessions/remote-demo/messages", ""); status != 404 {
		t.Errorf("a session of another agent: %d %s", status, body)
	}
	if status, body := s.bring(adaToken, "POST", "/api/chat?agent=demo", submit("remote-7", "u1", "hello")); status != 409 {
		t.Errorf("%d %s", status, body)
	}
	off := newPassThroughStand(t, ops, log, func(o *gateway.Options) { o.PassThrough = "" })
	if status, body := off.bring(adaToken, "GET", "/api/sessions/remote-1/messages", ""); status != 404 {
		t.Errorf("a pass-through token without an agent: %d %s", status, body)
	}
}

// A session that is open to its owner only on the other side is so here too, even
// for an admin.
func TestB10_AWorkflowIsOpenToTheOwnersTokenOnly(t *testing.T) {
	s := newPassThroughStand(t, &elsewhere{}, &quiet{})
	const path = "/api/sessions/remote-workflow/messages"
	if status, body := s.bring(adaToken, "GET", path, ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	for _, token := range []string{"ci-012345678901234567890", "root-012345678901234567890"} {
		if status, body := s.bring(token, "GET", path, ""); status != 404 {
			t.Errorf("%.4s: %d %s", token, status, body)
		}
	}
}

func TestB04_ALookupThatFails(t *testing.T) {
	ops, log := &elsewhere{}, &quiet{}
	s := newPassThroughStand(t, ops, log)
	for _, fails := range []error{errors.New("dial tcp: refused, bearer " + adaToken), errors.New("x")} {
		ops.set(fails)
		status, body := s.bring(adaToken, "POST", "/api/sessions/remote-1/chat", submit("", "u1", "hello"))
		if status != http.StatusBadGateway || body != "The server of the agent ops could not be asked for this session: try again in a moment." {
			t.Errorf("%d %s", status, body)
		}
	}
	if text := log.text(); !strings.Contains(text, "refused, bearer [token]") || strings.Contains(text, adaToken) {
		t.Errorf("the log says %s", text)
	}
	ops.set(nil) // a failure is not remembered
	if status, body := s.bring(adaToken, "POST", "/api/sessions/remote-1/chat", submit("", "u1", "hello")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// The gateway remembers an answer for some seconds, and no longer.
//
//evidence:for limit-lookup-answers limit-lookup-time
func TestFindingsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &elsewhere{}
		handler, end := newPassThroughHandler(t, ops)
		defer end()
		get := func(token, id string) int {
			w := newAnswer()
			r, _ := http.NewRequestWithContext(access.WithPassThrough(access.With(t.Context(), access.Principal{ID: "ops:x"}), access.NewPassThrough(token)), "GET", "/api/sessions/"+id+"/messages", nil)
			handler.ServeHTTP(w, r)
			return w.status
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { get(adaToken, "remote-1") })
		}
		all.Wait()
		if n := ops.count(); n != 1 {
			t.Errorf("asked %d times for one", n)
		}
		get(adaToken, "remote-2")
		get(vicToken, "remote-1")
		if n := ops.count(); n != 3 {
			t.Errorf("asked %d times: each token and each session is one of its own", n)
		}
		time.Sleep(4 * time.Second)
		get(adaToken, "remote-1")
		if n := ops.count(); n != 3 {
			t.Errorf("asked %d times within five seconds", n)
		}
		time.Sleep(2 * time.Second)
		ops.set(agent.ErrNoSession)
		if status := get(adaToken, "remote-1"); status != 404 || ops.count() != 4 {
			t.Errorf("status %d, asked %d times: who was put out stays out", status, ops.count())
		}
		ops.set(nil)
		time.Sleep(3 * time.Second)
		if status := get(adaToken, "remote-1"); status != 200 {
			t.Errorf("status %d: who was let in again", status)
		}
		// A directory that does not answer holds a caller for a while, no more.
		ops.mu.Lock()
		ops.hangs = true
		ops.mu.Unlock()
		from := time.Now()
		if status := get(adaToken, "remote-9"); status != 502 || time.Since(from) != 10*time.Second {
			t.Errorf("status %d after %s", status, time.Since(from))
		}
		// Nor does it gather more than it should.
		statuses := make(chan int, 5000)
		for i := range cap(statuses) {
			go func() { statuses <- get(fmt.Sprint("sk_", i), "remote-9") }()
		}
		counts := map[int]int{}
		for range cap(statuses) {
			counts[<-statuses]++
		}
		if counts[429] == 0 || counts[502] == 0 || counts[429]+counts[502] != cap(statuses) {
			t.Errorf("statuses %v", counts)
		}
	})
}

// A caller with earlier access is not kept out by invented tokens or a slow server, also not
// from a session that is new to them.
//
//evidence:for limit-lookups
func TestMadeUpTokensKeepNoKnownCallerOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &elsewhere{mulls: true}
		handler, end := newPassThroughHandler(t, ops)
		defer end()
		get := func(token, id string) int { return getWithToken(t, handler, token, id) }
		if status := get(adaToken, "remote-1"); status != 200 {
			t.Fatalf("status %d", status)
		}
		var flood sync.WaitGroup
		for i := range 6000 {
			flood.Go(func() { get(fmt.Sprint("sk_", i), "remote-1") })
		}
		synctest.Wait()
		time.Sleep(6 * time.Second) // what was found of ada is to be asked anew
		from := time.Now()
		for _, id := range []string{"remote-1", "remote-2", "remote-3"} {
			if status := get(adaToken, id); status != 200 || time.Since(from) > 0 {
				t.Errorf("%s: status %d after %s", id, status, time.Since(from))
			}
		}
		if status := get(vicToken, "remote-1"); status != 429 { // whom nobody can tell from the others yet
			t.Errorf("a stranger: status %d", status)
		}
		flood.Wait()
		time.Sleep(time.Second)
		if status := get(vicToken, "remote-1"); status != 200 {
			t.Errorf("after the flood: status %d", status)
		}
	})
}

// Nor do they keep room from being made for a caller who was in very many sessions.
//
//evidence:for limit-lookups
func TestMadeUpTokensLeaveRoomToBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &elsewhere{mulls: true}
		handler, end := newPassThroughHandler(t, ops, func(o *gateway.Options) { o.Limits.Requests = -1 })
		defer end()
		get := func(token, id string) int { return getWithToken(t, handler, token, id) }
		for i := range 4096 {
			if status := get(adaToken, fmt.Sprint("remote-", i)); status != 200 {
				t.Fatalf("the %dth: status %d", i, status)
			}
		}
		time.Sleep(6 * time.Second)
		var flood sync.WaitGroup
		for i := range 5000 {
			flood.Go(func() { get(fmt.Sprint("sk_", i), "remote-1") })
		}
		synctest.Wait()
		if status := get(adaToken, "remote-5000"); status != 200 {
			t.Errorf("status %d", status)
		}
		flood.Wait()
	})
}

func newPassThroughHandler(t *testing.T, ops *elsewhere, adapt ...func(*gateway.Options)) (http.Handler, func()) {
	t.Helper()
	return newHandler(t, memlog.New(), func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: ops, Cwd: t.TempDir(), Policy: permission.Default()}
	}, func(o *gateway.Options) {
		o.PassThrough = "ops"
		o.Guard = func(next http.Handler) http.Handler { return next }
		for _, change := range adapt {
			change(o)
		}
	})
}

// getWithToken is the status of a request for a session's messages with a token that
// nobody here knows.
func getWithToken(t *testing.T, h http.Handler, token, id string) int {
	t.Helper()
	w := newAnswer()
	ctx := access.WithPassThrough(access.With(t.Context(), access.Principal{ID: "ops:" + token}), access.NewPassThrough(token))
	r, err := http.NewRequestWithContext(ctx, "GET", "/api/sessions/"+id+"/messages", nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	h.ServeHTTP(w, r)
	return w.status
}

// answer is a response in memory whose body can be read while it grows.
type answer struct {
	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: 200} }

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(s int)   { a.status = s }
func (*answer) Flush()                {}

func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body.Write(p)
}

func (a *answer) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body.String()
}
