package agentops_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runtime returns a runtime that reaches the server.
func (s *server) runtime() agentops.Runtime {
	return agentops.Runtime{URL: "http://agents.test", Dial: s.conn.dial}
}

// The server's own check of access decides roles, for each kind of caller and session.
func TestB06_RolesAreThoseOfTheServer(t *testing.T) {
	for _, c := range []struct {
		name, token, purpose, visibility string
		want                             agent.Found
		fails                            error
	}{
		{name: "owner", token: "token-ada", want: agent.Found{By: "u_ada", Role: "owner", Title: "Fix the date test"}},
		{name: "collaborator", token: "token-bob", want: agent.Found{By: "u_bob", Role: "collaborator", Title: "Fix the date test"}},
		{name: "viewer", token: "token-vic", want: agent.Found{By: "u_vic", Role: "viewer", Title: "Fix the date test"}},
		{name: "stranger", token: "token-eve", fails: agent.ErrNoSession},
		{name: "member where members may look", token: "token-eve", visibility: "org_visible", want: agent.Found{By: "u_eve", Role: "viewer", Title: "Fix the date test"}},
		{name: "member where members may join", token: "token-eve", visibility: "org_joinable", want: agent.Found{By: "u_eve", Role: "viewer", Title: "Fix the date test"}},
		{name: "viewer where members may join", token: "token-vic", visibility: "org_joinable", want: agent.Found{By: "u_vic", Role: "viewer", Title: "Fix the date test"}},
		{name: "owner of an orchestrator", token: "token-ada", purpose: "orchestrator", want: agent.Found{By: "u_ada", Role: "owner", Title: "Fix the date test", Kind: "orchestrator"}},
		{name: "member of an orchestrator", token: "token-bob", purpose: "orchestrator", fails: agent.ErrNoSession},
		{name: "member of a workflow", token: "token-bob", purpose: "workflow", visibility: "org_joinable", fails: agent.ErrNoSession},
		{name: "unknown token", token: "nonsense", fails: agent.ErrUnauthorized},
		{name: "no token", fails: agent.ErrUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, agentOpsServer)
				s.purpose, s.visibility = c.purpose, c.visibility
				got, err := s.runtime().Find(t.Context(), s.id, agent.Caller{Bearer: c.token})
				if !errors.Is(err, c.fails) || got != c.want {
					t.Errorf("%+v %v, want %+v %v", got, err, c.want, c.fails)
				}
				for _, call := range s.httpCalls() {
					if !strings.HasPrefix(call, "GET ") || strings.HasSuffix(call, "/ws") {
						t.Errorf("finding out needed %s", call)
					}
				}
			})
		})
	}
}

// A gateway in the server's place is asked in the same way. A member of the organisation without
// a role in the session is a viewer.
func TestB07_AGatewayInTheServersPlaceDecidesRoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, gatewayServer)
		s.visibility = "org_joinable"
		got, err := s.runtime().Find(t.Context(), s.id, agent.Caller{Bearer: "token-eve"})
		if err != nil || got.Role != "viewer" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// An id is refused if it leads to another address, or names another session for each caller.
func TestB07_OnlyItsOwnIdFindsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, agentOpsServer)
		for _, id := range []string{"", ".", "..", "orchestrator", "other", s.id + "/ws", "%2e%2e", "a b\x7f"} {
			if _, err := s.runtime().Find(t.Context(), id, agent.Caller{Bearer: "token-ada"}); !errors.Is(err, agent.ErrNoSession) {
				t.Errorf("%q: %v", id, err)
			}
		}
		s.wrap = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = strings.Replace(r.URL.Path, "/mine", "/"+s.id, 1)
				r.URL.RawPath = ""
				h.ServeHTTP(w, r)
			})
		}
		if _, err := s.runtime().Find(t.Context(), "mine", agent.Caller{Bearer: "token-ada"}); !errors.Is(err, agent.ErrNoSession) {
			t.Errorf("an alias: %v", err)
		}
	})
}

// Find says how the server failed, and its error differs from a refusal. Find waits no longer
// than the connect time.
func TestFindSaysWhyTheServerCouldNotBeAsked(t *testing.T) {
	for _, c := range []struct {
		name, want string
		handler    http.HandlerFunc
	}{
		{"silent", "no answer came within 30s", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"a page", "is the url right?", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello")) }},
		{"down", "refused (502)", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>bad gateway"))
		}},
		{"elsewhere", "refused (302)", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusFound)
		}},
		{"endless", "more than 1 MB", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, agentOpsServer)
				s.wrap = func(http.Handler) http.Handler { return c.handler }
				r := s.runtime()
				r.MaxFrame = 1 << 20
				began := time.Now()
				_, err := r.Find(t.Context(), s.id, agent.Caller{Bearer: "token-ada"})
				if err == nil || errors.Is(err, agent.ErrNoSession) || errors.Is(err, agent.ErrUnauthorized) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if took := time.Since(began); took > 31*time.Second {
					t.Errorf("it took %s", took)
				}
				if err != nil && strings.Contains(err.Error(), "token-ada") {
					t.Errorf("the error holds the token: %v", err)
				}
			})
		})
	}
}

func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, agentOpsServer)
		t.Setenv("TRIBUTARY_TEST_AGENTOPS", "token-ada")
		for _, c := range []struct {
			name string
			with func(*agentops.Runtime)
			want string
		}{
			{"without a token", func(*agentops.Runtime) {}, ""},
			{"with one", func(r *agentops.Runtime) { r.Token.Env = "TRIBUTARY_TEST_AGENTOPS" }, ""},
			{"with none where it should be", func(r *agentops.Runtime) { r.Token.Env = "TRIBUTARY_TEST_UNSET" }, "holds no token"},
			{"with a file that is not there", func(r *agentops.Runtime) { r.Token.File = "/nowhere" }, "cannot be read"},
			{"nobody there", func(r *agentops.Runtime) { r.Dial = newClosedPipes().dial }, "connection refused"},
			{"no address", func(r *agentops.Runtime) { r.URL = "agents.test" }, "base address"},
			{"an address with a password", func(r *agentops.Runtime) { r.URL = "https://a:b@agents.test" }, "base address"},
		} {
			r := s.runtime()
			c.with(&r)
			version, err := r.Probe(context.Background())
			if c.want == "" && (err != nil || version != "at agents.test") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %q %v, want %q", c.name, version, err, c.want)
			}
		}
	})
}

func newClosedPipes() *pipes {
	p := newPipes()
	_ = p.Close()
	return p
}
