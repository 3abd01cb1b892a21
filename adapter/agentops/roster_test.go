package agentops_test

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
)

// roster looks users up with the service token. The user of that token is a collaborator there.
func (s *server) roster(by agentops.UserKey) agentops.Roster {
	s.users["token-service"] = user{"u_service", "Gateway", "collaborator"}
	s.members["u_service"] = "collaborator"
	s.t.Setenv("TRIBUTARY_TEST_AGENTOPS", "token-service")
	r := s.runtime()
	r.Token.Env = "TRIBUTARY_TEST_AGENTOPS"
	return agentops.Roster{Runtime: r, By: by}
}

// A user without a token has the rights that the server's list of members gives them. The rights
// of the service and of organisation members do not count.
func TestB07_TheServiceFindsTheRolesOfOtherUsers(t *testing.T) {
	const title = "Fix the date test"
	for _, c := range []struct {
		name, user, purpose, visibility string
		by                              agentops.UserKey
		want                            agent.Found
		fails                           error
	}{
		{name: "owner", user: "u_ada", want: agent.Found{By: "u_ada", Owner: "u_ada", Role: "owner", Title: title}},
		{name: "collaborator", user: "u_bob", want: agent.Found{By: "u_bob", Owner: "u_ada", Role: "collaborator", Title: title}},
		{name: "viewer", user: "u_vic", want: agent.Found{By: "u_vic", Owner: "u_ada", Role: "viewer", Title: title}},
		{name: "viewer where members may join", user: "u_vic", visibility: "org_joinable", want: agent.Found{By: "u_vic", Owner: "u_ada", Role: "viewer", Title: title}},
		{name: "stranger", user: "u_eve", fails: agent.ErrForeign},
		{name: "member where members may look", user: "u_eve", visibility: "org_visible", fails: agent.ErrForeign},
		{name: "member where members may join", user: "u_eve", visibility: "org_joinable", fails: agent.ErrForeign},
		{name: "an address where ids are meant", user: "u_ada@example.com", fails: agent.ErrForeign},
		{name: "nobody", user: "", fails: agent.ErrNoSession},
		{name: "a part of a name", user: "u_", fails: agent.ErrForeign},
		{name: "owner of an orchestrator", user: "u_ada", purpose: "orchestrator", fails: agent.ErrNoSession}, // which the service is not shown
		{name: "member of a workflow", user: "u_bob", purpose: "workflow", fails: agent.ErrNoSession},
		{name: "owner's address", by: agentops.UserEmail, user: "u_ADA@Example.com", want: agent.Found{By: "u_ADA@Example.com", Owner: "u_ADA@Example.com", Role: "owner", Title: title}},
		{name: "viewer's address", by: agentops.UserEmail, user: "u_vic@example.com", want: agent.Found{By: "u_vic@example.com", Role: "viewer", Title: title}},
		{name: "an id where addresses are meant", by: agentops.UserEmail, user: "u_ada", fails: agent.ErrForeign},
		{name: "an address with a letter that looks like another", by: agentops.UserEmail, user: "u_\u212aim@example.com", fails: agent.ErrForeign},
		{name: "an address that two have", by: agentops.UserEmail, user: "u_two@example.com", fails: agent.ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, agentOpsServer)
			r := s.roster(c.by)
			s.members["u_kim"] = "collaborator"
			if c.name == "an address that two have" {
				s.wrap = twice
			}
			s.purpose, s.visibility = c.purpose, c.visibility
			got, err := r.FindUser(t.Context(), s.id, c.user)
			if !errors.Is(err, c.fails) || got != c.want {
				t.Errorf("%+v %v, want %+v %v", got, err, c.want, c.fails)
			}
			for _, call := range s.httpCalls() {
				if !strings.HasPrefix(call, "GET ") {
					t.Errorf("the service did more than read: %s", call)
				}
			}
		})
	}
}

// twice answers with two members of the same address.
func twice(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/participants") {
			h.ServeHTTP(w, r)
			return
		}
		reply(w, http.StatusOK, object{"participants": []object{
			{"userId": "u_1", "userEmail": "u_two@example.com", "role": "viewer"}, {"userId": "u_2", "userEmail": "u_two@example.com", "role": "collaborator"},
		}})
	})
}

// The service is the owner of its own sessions of every kind. Other users get no rights from that.
func TestB10_OtherUsersGetNoRightsFromTheServicesSessions(t *testing.T) {
	for _, by := range []agentops.UserKey{agentops.UserID, agentops.UserEmail} {
		s := newServer(t, agentOpsServer)
		r := s.roster(by)
		s.owner, s.purpose = "u_service", "workflow"
		for _, user := range []string{"u_ada", "u_bob", "u_ada@example.com", "u_service@example.com"} {
			if got, err := r.FindUser(t.Context(), s.id, user); !errors.Is(err, agent.ErrForeign) {
				t.Errorf("%s: %+v %v", user, got, err)
			}
		}
		got, err := r.FindUser(t.Context(), s.id, "u_service")
		if by == agentops.UserID && (err != nil || got.Role != "owner" || got.Kind != "workflow") {
			t.Errorf("%+v %v", got, err)
		}
	}
}

// An unclear answer of the server gives no access.
func TestB07_AnUnclearAnswerGivesNoAccess(t *testing.T) {
	for name, answer := range map[string]object{
		"no participants":    {},
		"no names":           {"participants": []object{{"role": "owner"}}},
		"no role":            {"participants": []object{{"userId": "u_bob"}}},
		"a role of its own":  {"participants": []object{{"userId": "u_bob", "role": "admin"}}},
		"two roles":          {"participants": []object{{"userId": "u_bob", "role": "viewer"}, {"userId": "u_bob", "role": "owner"}}},
		"another's sessions": {"participants": []object{{"userId": "u_bobby", "role": "owner"}}},
	} {
		s := newServer(t, agentOpsServer)
		r := s.roster("")
		s.wrap = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/participants") {
					reply(w, http.StatusOK, maps.Clone(answer))
					return
				}
				h.ServeHTTP(w, r)
			})
		}
		if got, err := r.FindUser(t.Context(), s.id, "u_bob"); !errors.Is(err, agent.ErrForeign) || got != (agent.Found{}) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	s := newServer(t, agentOpsServer)
	r := s.roster("")
	for _, id := range []string{"", ".", "..", "orchestrator", "other", s.id + "/ws"} {
		if _, err := r.FindUser(t.Context(), id, "u_ada"); !errors.Is(err, agent.ErrNoSession) {
			t.Errorf("%q: %v", id, err)
		}
	}
	s.mu.Lock()
	delete(s.users, "token-service")
	s.mu.Unlock()
	if _, err := r.FindUser(t.Context(), s.id, "u_ada"); err == nil || errors.Is(err, agent.ErrNoSession) || strings.Contains(err.Error(), "token-service") {
		t.Errorf("a token that is not valid: %v", err)
	}
}

// A server that does not answer delays a caller by the answer time at most.
func TestARosterDoesNotWaitForASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, agentOpsServer)
		s.users["token-service"] = user{"u_service", "Gateway", "collaborator"}
		s.wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}
		t.Setenv("TRIBUTARY_TEST_AGENTOPS", "token-service")
		r := agentops.Roster{Runtime: s.runtime()}
		r.Token.Env = "TRIBUTARY_TEST_AGENTOPS"
		if _, err := r.FindUser(t.Context(), s.id, "u_ada"); err == nil || !strings.Contains(err.Error(), "no answer came within 30s") {
			t.Errorf("%v", err)
		}
	})
}
