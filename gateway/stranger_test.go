package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
)

// said is an answer as far as somebody could tell one session from another by it.
func (s stand) said(method, path, body string, header ...string) string {
	s.t.Helper()
	status, h, text := s.do(method, path, body, header...)
	h.Del("Date")
	var all strings.Builder
	_ = h.Write(&all)
	return http.StatusText(status) + "\n" + all.String() + text
}

// A sender who may make no session gets the same answer for somebody else's session and
// for one that does not exist.
func TestB07_WhoMakesNoSessionLearnsOfNone(t *testing.T) {
	s := newStandWith(t, privately)
	s.all([]asked{{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 201}})
	for _, who := range []string{"viewer", "collaborator"} {
		header := as("bob", who)
		if who == "collaborator" {
			header = append(header, "X-Test-Bound", "other")
		}
		there := s.said("POST", "/api/chat", submit("s", "u1", "hello"), header...)
		nowhere := s.said("POST", "/api/chat", submit("t", "u1", "hello"), header...)
		if there != nowhere || !strings.HasPrefix(there, "Forbidden") {
			t.Errorf("%s:\n%s\nand where there is none:\n%s", who, there, nowhere)
		}
	}
}

// A token that counts nowhere reveals no session of another agent.
func TestB07_UnknownTokensLearnOfNoSession(t *testing.T) {
	s := newPassThroughStand(t, &elsewhere{}, &quiet{})
	s.bring("root-012345678901234567890", "POST", "/api/sessions", `{"id":"mine","agent":"demo"}`)
	for _, token := range []string{"sk_nobody_0123456789", adaToken} {
		there := s.said("GET", "/api/sessions/mine/messages", "", "Authorization", "Bearer "+token)
		nowhere := s.said("GET", "/api/sessions/none/messages", "", "Authorization", "Bearer "+token)
		if there != nowhere {
			t.Errorf("%.6s hears\n%s\nand where there is none\n%s", token, there, nowhere)
		}
	}
}

// unlocking deletes a session while its owner is being looked up.
type unlocking struct {
	elsewhere
	hub *session.Hub
}

func (u *unlocking) Find(ctx context.Context, id string, c agent.Caller) (agent.Found, error) {
	if u.hub != nil {
		_, _ = u.hub.Delete(ctx, id)
	}
	return u.elsewhere.Find(ctx, id, c)
}

// A pass-through token begins no session with another agent, not even in the place of one that is
// deleted while its request runs.
func TestB04_APassThroughTokenMakesNoSession(t *testing.T) {
	ops := &unlocking{}
	handler, end := newHandler(t, memlog.New(), func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: ops, Cwd: t.TempDir(), Policy: permission.Default()}
	}, func(o *gateway.Options) {
		o.PassThrough = "ops"
		o.Guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token := access.NewPassThrough(adaToken)
				next.ServeHTTP(w, r.WithContext(access.WithPassThrough(access.With(r.Context(), token.Known("ops", "", 0)), token)))
			})
		}
		if _, err := o.Hub.Create(t.Context(), session.Spec{ID: "remote-1", Agent: "ops"}); err != nil {
			t.Fatal(err)
		}
		ops.hub = o.Hub
	})
	s := serveStand(t, handler, end)
	if status, _, body := s.do("POST", "/api/chat", submit("remote-1", "u1", "hello")); status != 404 {
		t.Errorf("%d %s", status, body)
	}
	if info, err := ops.hub.Get(t.Context(), "remote-1"); err == nil {
		t.Errorf("a pass-through token has a session with the agent %s", info.Agent)
	}
}

// No user can take the id of a session on another server before its owner comes, and
// then read what the owner says.
func TestB07_SessionsElsewhereAreNotTakenBeforehand(t *testing.T) {
	ops := &elsewhere{}
	s := newPassThroughStand(t, ops, &quiet{}, privately)
	for path, body := range map[string]string{
		"/api/sessions":       `{"id":"remote-1","agent":"ops"}`,
		"/api/chat?agent=ops": submit("remote-1", "u0", "hello"),
	} {
		if status, said := s.bring("ci-012345678901234567890", "POST", path, body); status != 403 {
			t.Errorf("%s: %d %s", path, status, said)
		}
	}
	if status, body := s.bring(adaToken, "POST", "/api/sessions/remote-1/chat", submit("", "u1", "a secret")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.bring("ci-012345678901234567890", "GET", "/api/sessions/remote-1/messages", ""); status != 404 {
		t.Errorf("who took the id reads: %d %s", status, body)
	}
	if status, body := s.bring("root-012345678901234567890", "POST", "/api/sessions", `{"id":"remote-2","agent":"ops"}`); status != 201 {
		t.Errorf("who runs the gateway: %d %s", status, body)
	}
}

// The address of an old client's resume is open to pass-through tokens as the others are.
func TestF13_PassThroughTokensResumeBehindAQuery(t *testing.T) {
	s := newPassThroughStand(t, &elsewhere{}, &quiet{})
	s.bring(adaToken, "POST", "/api/chat", submit("remote-1", "u1", "over there"))
	if status, body := s.bring(adaToken, "GET", "/api/chat?client=5/remote-1/stream", ""); status != 200 || !strings.Contains(body, `there"}`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.bring("sk_nobody_0123456789", "GET", "/api/chat?client=5/remote-1/stream", ""); status != 401 {
		t.Errorf("%d %s", status, body)
	}
}

// A session that is nobody's is not everybody's who comes without a name.
func TestB05_ARunnersAddressLetsNobodyElseIn(t *testing.T) {
	guard, err := access.New(access.Config{
		Listen: "127.0.0.1:0", Public: gateway.Public, Refuse: gateway.Refuse,
		Tokens: []access.Token{{Name: "root", Token: "root-012345678901234567890", Role: access.Admin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newStandWith(t, privately, func(o *gateway.Options) {
		o.Guard = guard.Wrap
		for _, id := range []string{"ws", "a/ws"} {
			if _, err := o.Hub.Create(t.Context(), session.Spec{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, path := range []string{"/api/sessions/ws?role=runner", "/api/sessions/a%2Fws?role=runner"} {
		status, _, body := s.do("GET", path, "", "Upgrade", "websocket", "Connection", "Upgrade")
		if status != 401 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// A removed member sees no more of a session by a stream that is already open.
func TestB07_WhoIsPutOutFollowsNoLonger(t *testing.T) {
	for _, path := range []string{"/api/sessions/s/events", "/api/sessions/s/trace", "/api/chat/s/stream"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, end := newHandler(t, memlog.New(), func(o *session.Options) {
					a := o.Agents["demo"]
					a.Runtime = demo.Runtime{Pace: time.Second}
					o.Agents["demo"], o.OnDisconnect = a, session.Stop
				}, func(o *gateway.Options) {
					o.Private = true
				})
				defer end()
				send := func(who, method, path, body string, header ...string) (*answer, <-chan struct{}) {
					r, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("X-Test-Principal", who)
					for i := 0; i+1 < len(header); i += 2 {
						r.Header.Set(header[i], header[i+1])
					}
					w, done := newAnswer(), make(chan struct{})
					go func() {
						defer close(done)
						defer func() { // as a server does: what still runs in the end is broken off
							if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint,err113 // it is that value
								panic(p)
							}
						}()
						h.ServeHTTP(w, r)
					}()
					return w, done
				}
				wait := func(_ *answer, done <-chan struct{}) { <-done }
				wait(send("ada", "POST", "/api/sessions", `{"id":"s"}`))
				wait(send("ada", "PUT", "/api/sessions/s/members/bob", `{"role":"viewer"}`))
				send("ada", "POST", "/api/chat", submit("s", "u1", "slow"))
				synctest.Wait()
				seen, left := send("bob", "GET", path, "", "Accept", "text/event-stream", "X-Test-Role", "viewer")
				stays, _ := send("ada", "GET", path, "", "Accept", "text/event-stream", "X-Test-Role", "collaborator")
				synctest.Wait()
				wait(send("ada", "DELETE", "/api/sessions/s/members/bob", ""))
				from := time.Now()
				select {
				case <-left:
				case <-time.After(time.Minute):
					t.Error("who was put out follows on")
				}
				if past := time.Since(from); past > 30*time.Second || !strings.Contains(seen.text(), "This session is not yours any more") {
					t.Errorf("after %s he has\n%s", past, seen.text())
				}
				if strings.Contains(stays.text(), "not yours") {
					t.Error("the owner was put out")
				}
			})
		})
	}
}

// A member who is removed while the body of a request is under way gets 404, and cannot
// become a member again by that request.
func TestB07_WhoIsPutOutFinishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := newPipes(t, nil, func(o *gateway.Options) { o.Private, o.Permits = true, []access.Who{{Role: access.Viewer}} })
		defer end()
		request := func(who, method, path, body string) string {
			return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nX-Test-Principal: %s\r\nX-Test-Role: collaborator\r\nContent-Length: %d\r\n\r\n%s", method, path, who, len(body), body)
		}
		ask := func(want int, who, method, path, body string) {
			if status, said := p.ask(request(who, method, path, body)); status != want {
				t.Errorf("%s %s %s: %d %s", who, method, path, status, said)
			}
		}
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/api/sessions/s/chat", submit("", "u1", "hello")},
			{"POST", "/api/chat", submit("s", "u1", "hello")},
			{"PUT", "/api/sessions/s/members/bob", `{"role":"owner"}`},
			{"PATCH", "/api/sessions/s", `{"title":"mine"}`},
			{"POST", "/api/sessions/s/stop", `{"turn":"t"}`},
			{"POST", "/api/sessions/s/permissions/x", `{"approved":true}`},
			{"POST", "/api/sessions/s/questions/x", `{"value":"yes"}`},
		} {
			ask(201, "ada", "POST", "/api/sessions", `{"id":"s"}`)
			ask(200, "ada", "PUT", "/api/sessions/s/members/bob", `{"role":"owner"}`)
			all := request("bob", c.method, c.path, c.body)
			conn := p.send(all[:len(all)-5])
			synctest.Wait() // he has been let in
			ask(200, "ada", "DELETE", "/api/sessions/s/members/bob", "")
			go func() { _, _ = io.WriteString(conn, all[len(all)-5:]) }()
			if status, said := read(t, conn); status != 404 || !strings.Contains(said, "There is no such session.") {
				t.Errorf("%s %s: %d %s", c.method, c.path, status, said)
			}
			_ = conn.Close()
			ask(404, "bob", "GET", "/api/sessions/s", "")
			ask(204, "ada", "DELETE", "/api/sessions/s", "")
		}
	})
}
