package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
)

// host stands in for an agent whose sessions live on a server that tells of their people:
// far is ada's, with bob and vic, and flow is ada's workflow.
type host struct {
	echo.Runtime
	mu    sync.Mutex
	asked []string
	out   string // who was put out
	fails error
	mulls time.Duration // over each question
}

func (h *host) FindUser(_ context.Context, id, user string) (agent.Found, error) {
	time.Sleep(h.mulls)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, user+" "+id)
	found := agent.Found{By: user, Title: "Far away", Owner: "ada", Role: map[string]string{"ada": "owner", "bob": "collaborator", "vic": "viewer"}[user]}
	switch {
	case h.fails != nil:
		return agent.Found{}, h.fails
	case id == "flow" && user == "ada":
		found.Kind = "workflow"
	case strings.HasPrefix(id, "far") && found.Role != "" && user != h.out:
	case id == "flow", strings.HasPrefix(id, "far"):
		return agent.Found{}, agent.ErrForeign
	default:
		return agent.Found{}, agent.ErrNoSession
	}
	return found, nil
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

func (h *host) set(out string, fails error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out, h.fails = out, fails
}

func hosting(t *testing.T, h *host) func(*session.Options) {
	t.Helper()
	return func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: h, Cwd: t.TempDir(), Policy: permission.Default()}
	}
}

// The gateway looks up a session that it does not know on the session's server. The
// server's word on the caller counts: on every route of the session, in either way of
// sharing, whatever the caller's role in the gateway is.
func TestB01_B07_ASessionIsFoundOnItsServer(t *testing.T) {
	prompt := submit("", "u1", "over there")
	for _, adapt := range [][]func(*gateway.Options){nil, {privately}} {
		h := &host{}
		s := newStandOn(t, memlog.New(), hosting(t, h), adapt...)
		s.all([]asked{
			{"eve", "collaborator", "POST", "/api/sessions/far/chat", prompt, 404},
			{"root", "admin", "POST", "/api/sessions/far/chat", prompt, 404}, // the service may see it, and that opens nothing to him
			{"vic", "collaborator", "POST", "/api/sessions/far/chat", prompt, 404},
			{"vic", "collaborator", "GET", "/api/sessions/far/messages", "", 200},
			{"bob", "viewer", "POST", "/api/sessions/far-2/chat", prompt, 200},
			{"bob", "viewer", "GET", "/api/sessions/far-3/chat/stream", "", 204},
			{"bob", "viewer", "GET", "/api/sessions/far-4/channels", "", 200},
			{"bob", "viewer", "GET", "/api/sessions/far-5/tools", "", 200},
			{"bob", "viewer", "GET", "/api/sessions/far-6/trace", "", 200},
			{"bob", "viewer", "POST", "/api/sessions/far-7/stop", "", 200},
			{"ada", "viewer", "POST", "/api/sessions/far/chat", prompt, 200},
			{"ada", "viewer", "POST", "/api/sessions/none/chat", prompt, 404},
			// The session is known now, but a role in the gateway still gives no access.
			{"eve", "collaborator", "POST", "/api/sessions/far/chat", prompt, 404},
			{"eve", "collaborator", "POST", "/api/chat", submit("far", "u2", "hello"), 404},
			{"vic", "collaborator", "POST", "/api/sessions/far/chat", prompt, 404},
			{"bob", "collaborator", "DELETE", "/api/sessions/far", "", 403},
			{"root", "admin", "GET", "/api/sessions/far", "", 200}, // except the admin, who runs the gateway
		})
		if status := s.upgrade("/api/sessions/far-8/ws?role=client", as("eve", "collaborator")...); status != 404 && status != 403 {
			t.Errorf("a stranger's socket: %d", status)
		}
		if status := s.upgrade("/api/sessions/far-8/ws?role=client", as("vic", "viewer")...); status != http.StatusSwitchingProtocols {
			t.Errorf("a viewer's socket: %d", status)
		}
		_, _, body := s.do("GET", "/api/sessions/far", "", as("bob", "viewer")...)
		for _, says := range []string{`"agent":"ops"`, `"title":"Far away"`, `"owner":"ada"`, `"role":"collaborator"`} {
			if !strings.Contains(body, says) {
				t.Errorf("%s is not in %s", says, body)
			}
		}
		if _, _, list := s.do("GET", "/api/sessions", "", as("eve", "collaborator")...); strings.Contains(list, "far") {
			t.Errorf("a stranger finds %s", list)
		}
		if _, _, list := s.do("GET", "/api/sessions", "", as("ada", "viewer")...); !strings.Contains(list, `"id":"far","agent":"ops"`) || !strings.Contains(list, `"role":"owner"`) {
			t.Errorf("its owner finds %s", list)
		}
		if status, _, body := s.do("PUT", "/api/sessions/far/members/eve", `{"role":"viewer"}`, as("ada", "viewer")...); status != 400 || !strings.Contains(body, "invite them there") {
			t.Errorf("%d %s", status, body)
		}
		s.all([]asked{
			{"ada", "collaborator", "POST", "/api/sessions/flow/chat", prompt, 200},
			{"root", "admin", "GET", "/api/sessions/flow", "", 404},
			{"bob", "collaborator", "POST", "/api/sessions/flow/chat", prompt, 404},
		})
	}
}

// A caller cannot tell a session of other people from one that does not exist, before
// another user entered it or after.
func TestB07_ForeignHostedSessionsAreNone(t *testing.T) {
	for _, adapt := range [][]func(*gateway.Options){nil, {privately}} {
		h := &host{}
		s := newStandOn(t, memlog.New(), hosting(t, h), adapt...)
		for range 2 {
			for _, ask := range [][3]string{
				{"POST", "/api/sessions/%s/chat", submit("", "u1", "hello")},
				{"GET", "/api/sessions/%s/chat/stream", ""},
				{"GET", "/api/sessions/%s/messages", ""},
				{"GET", "/api/sessions/%s/channels", ""},
				{"GET", "/api/sessions/%s/tools", ""},
				{"DELETE", "/api/sessions/%s", ""},
				{"POST", "/api/chat/%s/stop", ""},
				{"GET", "/api/chat/%s/stream", ""},
			} {
				there := s.said(ask[0], fmt.Sprintf(ask[1], "far"), ask[2], as("eve", "collaborator")...)
				nowhere := s.said(ask[0], fmt.Sprintf(ask[1], "non"), ask[2], as("eve", "collaborator")...)
				if there != nowhere {
					t.Errorf("%s %s:\n%s\nand where there is none:\n%s", ask[0], ask[1], there, nowhere)
				}
			}
			s.all([]asked{{"bob", "collaborator", "POST", "/api/sessions/far/chat", submit("", "u1", "hello"), 200}})
		}
	}
	h := &host{}
	s := newStandOn(t, memlog.New(), hosting(t, h), privately, func(o *gateway.Options) { o.ForeignSession = http.StatusForbidden })
	s.all([]asked{
		{"eve", "collaborator", "POST", "/api/sessions/far/chat", submit("", "u1", "hello"), 403},
		{"eve", "collaborator", "POST", "/api/sessions/none/chat", submit("", "u1", "hello"), 404},
	})
}

// With private sessions, no caller makes a session by an id of the agent's server: the
// token of the service would open the session of another user there.
func TestB07_NobodyOpensAHostedSessionByItsId(t *testing.T) {
	h := &host{}
	s := newStandOn(t, memlog.New(), hosting(t, h), privately)
	s.all([]asked{
		{"eve", "collaborator", "POST", "/api/sessions", `{"id":"far","agent":"ops"}`, 403},
		{"eve", "collaborator", "POST", "/api/sessions", `{"agent":"ops"}`, 403},
		{"eve", "collaborator", "POST", "/api/chat?agent=ops", submit("far", "u1", "hello"), 404},
		{"eve", "collaborator", "POST", "/api/chat?agent=ops", submit("none", "u1", "hello"), 404},
		{"bob", "viewer", "POST", "/api/chat?agent=ops", submit("far", "u1", "hello"), 200},
		{"eve", "collaborator", "POST", "/api/chat", submit("mine", "u1", "hello"), 200}, // with another agent
		{"root", "admin", "POST", "/api/sessions", `{"id":"far-9","agent":"ops"}`, 201},
	})
	if n := h.count(); n != 3 {
		t.Errorf("asked %d times: %q", n, h.asked)
	}
}

// While the server cannot be reached, it opens no session and reveals none. Only a
// user who had access just now learns the reason.
func TestB07_AServerThatCannotBeAskedOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		get, end := hostedGet(t, h)
		defer end()
		if status := get("bob", "far"); status != 200 {
			t.Errorf("status %d", status)
		}
		h.set("", errors.New("connection refused"))
		for _, id := range []string{"far", "none"} {
			if status := get("vic", id); status != 404 {
				t.Errorf("%s: status %d", id, status)
			}
		}
		if status := get("bob", "far"); status != 200 {
			t.Errorf("status %d within five seconds", status)
		}
		time.Sleep(6 * time.Second)
		if status := get("bob", "far"); status != 502 {
			t.Errorf("who was let in: status %d", status)
		}
		time.Sleep(11 * time.Minute)
		if status := get("bob", "far"); status != 404 {
			t.Errorf("who was let in long ago: status %d", status)
		}
		h.set("bob", nil)
		time.Sleep(6 * time.Second)
		if status := get("bob", "far"); status != 404 {
			t.Errorf("who was put out: status %d", status)
		}
		h.set("", nil)
		time.Sleep(3 * time.Second)
		if status := get("bob", "far"); status != 200 {
			t.Errorf("who was let in again: status %d", status)
		}
	})
}

// A session that is here and somebody else's, with whatever agent, is sought like one that
// is nowhere: neither the lookup nor its bound tells them apart.
func TestB07_WhatIsHereIsSoughtLikeWhatIsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		handler, end := newHandler(t, memlog.New(), hosting(t, h), asTheyCome)
		defer end()
		for _, id := range []string{"local", "local-2"} {
			askAs(t, handler, owner("root"), "POST", "/api/sessions", `{"agent":"demo","id":"`+id+`"}`)
		}
		ask := func(id string) string {
			return askAs(t, handler, access.Principal{ID: "eve", Role: access.Viewer}, "GET", "/api/sessions/"+id+"/messages", "")
		}
		for i, id := range []string{"local", "none"} {
			if ask(id); h.count() != i+1 {
				t.Errorf("%s: asked %d times", id, h.count())
			}
		}
		for i := range 300 {
			ask(fmt.Sprint("none-", i))
		}
		if here, nowhere := ask("local-2"), ask("none-300"); here != nowhere || !strings.Contains(here, "too_many_lookups") {
			t.Errorf("%s\nand where there is none:\n%s", here, nowhere)
		}
	})
}

// Whose session it was comes in by no way, also by that on which sessions are made, when
// the server says nothing more of it.
func TestB07_AnOwnerOnRecordIsJudgedByTheServerToo(t *testing.T) {
	for _, private := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := &host{}
			handler, end := newHandler(t, memlog.New(), hosting(t, h), func(o *gateway.Options) {
				asTheyCome(o)
				o.Private = private
			})
			defer end()
			prompt := func(path, message string) string {
				return askAs(t, handler, access.Principal{ID: "ada", Role: access.Collaborator}, "POST", path, submit("far", message, "hello"))
			}
			if said := prompt("/api/sessions/far/chat", "u1"); !strings.Contains(said, "hello") {
				t.Fatal(said)
			}
			for i, fails := range []error{agent.ErrNoSession, errors.New("connection refused"), agent.ErrForeign} {
				h.set("", fails)
				time.Sleep(11 * time.Minute)
				if said := prompt("/api/chat", fmt.Sprint("u", i+2)); said != "There is no such session." {
					t.Errorf("private %v, %v: %s", private, fails, said)
				}
			}
		})
	}
}

// One principal who makes names up is stopped before the server has much of it, and
// takes nothing from others.
//
//evidence:for limit-lookup-sessions
func TestLookupsOfOnePrincipalAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		get, end := hostedGet(t, h)
		defer end()
		counts := map[int]int{}
		for i := range 1000 {
			counts[get("eve", fmt.Sprint("none-", i))]++
		}
		if counts[404] != 256 || counts[429] != 744 || h.count() != 256 {
			t.Errorf("statuses %v, asked %d times", counts, h.count())
		}
		for range 100 {
			get("eve", "none-1")
		}
		if n := h.count(); n != 256 {
			t.Errorf("asked %d times: what is nowhere is remembered", n)
		}
		if status := get("bob", "far"); status != 200 {
			t.Errorf("somebody else: status %d", status)
		}
		time.Sleep(3 * time.Second)
		if status := get("eve", "none-2000"); status != 404 {
			t.Errorf("later: status %d", status)
		}
	})
}

// However many questions one has under way, to however many servers, others are answered
// beside them.
//
//evidence:for limit-lookups
func TestB07_LookupsOfOnePrincipalHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{mulls: 3 * time.Second}
		get, end := hostedGet(t, h, "ops2", "ops3", "ops4")
		defer end()
		var many sync.WaitGroup
		for i := range 200 {
			many.Go(func() { get("eve", fmt.Sprint("none-", i)) })
		}
		for _, later := range []time.Duration{0, 6500 * time.Millisecond} { // and then questions go to the last of them
			time.Sleep(later)
			synctest.Wait()
			from := time.Now()
			if status := get("bob", "far"); status != 200 || time.Since(from) != h.mulls {
				t.Errorf("status %d after %s", status, time.Since(from))
			}
		}
		many.Wait()
	})
}

// Invented names do not evict callers who had access.
func TestB07_NamesThatAreMadeUpTakeNobodysStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		get, end := hostedGet(t, h)
		defer end()
		if status := get("bob", "far"); status != 200 {
			t.Fatalf("status %d", status)
		}
		time.Sleep(6 * time.Second)
		for i := range 300 {
			get("eve", fmt.Sprint("none-", i))
		}
		h.set("", errors.New("connection refused"))
		if status := get("bob", "far"); status != 502 {
			t.Errorf("who was let in just now: status %d", status)
		}
	})
}

// The cache has a bound and evicts old entries: a caller with access to very many sessions
// can open the next one.
func TestFindingsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		get, end := hostedGet(t, h)
		defer end()
		for i := range 4096 {
			if status := get("bob", fmt.Sprint("far-", i)); status != 200 {
				t.Fatalf("the %dth: status %d", i, status)
			}
		}
		if status := get("bob", "far-5000"); status != 429 {
			t.Errorf("one more: status %d", status)
		}
		if status := get("bob", "far-1"); status != 200 {
			t.Errorf("one of them again: status %d", status)
		}
		time.Sleep(6 * time.Second)
		for _, id := range []string{"far-5000", "far-1", "far-5001"} {
			if status := get("bob", id); status != 200 {
				t.Errorf("%s, a little later: status %d", id, status)
			}
		}
	})
}

func hostedGet(t *testing.T, h *host, more ...string) (get func(who, id string) int, end func()) {
	t.Helper()
	handler, end := newHandler(t, memlog.New(), func(o *session.Options) {
		hosting(t, h)(o)
		for _, name := range more {
			o.Agents[name] = session.Agent{Runtime: h, Cwd: t.TempDir(), Policy: permission.Default()}
		}
	}, asTheyCome)
	return func(who, id string) int {
		w := newAnswer()
		r, _ := http.NewRequestWithContext(access.With(t.Context(), access.Principal{ID: who, Role: access.Viewer}), "GET", "/api/sessions/"+id+"/messages", nil)
		handler.ServeHTTP(w, r)
		return w.status
	}, end
}

// asTheyCome makes sessions private, and takes the principal of each request from its
// context, without a rate limit.
func asTheyCome(o *gateway.Options) {
	o.Private, o.Limits.Requests, o.Guard = true, -1, func(next http.Handler) http.Handler { return next }
}

// upgrade asks for a WebSocket and returns the status of the answer.
func (s stand) upgrade(path string, header ...string) int {
	s.t.Helper()
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		o.HTTPHeader.Set(header[i], header[i+1])
	}
	conn, res, err := websocket.Dial(s.t.Context(), s.url+path, o) //nolint:bodyclose // it is the connection
	if err == nil {
		_ = conn.CloseNow()
	}
	if res == nil {
		s.t.Fatal(err)
	}
	return res.StatusCode
}
