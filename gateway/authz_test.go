package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

func privately(o *gateway.Options) { o.Private = true }

func newStandWith(t *testing.T, adapt ...func(*gateway.Options)) stand {
	t.Helper()
	return newStandOn(t, memlog.New(), nil, adapt...)
}

// as are the headers of somebody.
func as(who, role string) []string { return []string{"X-Test-Principal", who, "X-Test-Role", role} }

// asked is a request and the status it is to have.
type asked struct {
	who, role, method, path, body string
	status                        int
}

func (s stand) all(asks []asked) {
	s.t.Helper()
	for _, a := range asks {
		if status, _, body := s.do(a.method, a.path, a.body, as(a.who, a.role)...); status != a.status {
			s.t.Errorf("%s (%s) %s %s: %d %.200s, want %d", a.who, a.role, a.method, a.path, status, body, a.status)
		}
	}
}

// The rules of a private session, for everybody and on every route.
//
//evidence:for promise-private
func TestB07_PrivateSessionsAreTheirOwners(t *testing.T) {
	s := newStandWith(t, privately)
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/chat", submit("s", "u1", "hello"), 200},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/carl", `{"role":"collaborator"}`, 200},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, 200},
	})
	for _, who := range []struct {
		name, role string
		is         string
	}{
		{"ada", "collaborator", "owner"},
		{"ada", "viewer", "owner"},
		{"root", "admin", "owner"},
		{"carl", "viewer", "collaborator"},
		{"vera", "collaborator", "viewer"},
		{"bob", "collaborator", ""},
		{"bob", "viewer", ""},
	} {
		read, prompt, own := 200, 200, 200
		switch who.is {
		case "collaborator":
			own = 403
		case "viewer":
			prompt, own = 403, 403
		case "":
			read, prompt, own = 404, 404, 404
		}
		adapter, follow, stop := prompt, read, prompt
		if adapter == 403 { // the RFC's route does not tell a viewer from a stranger
			adapter = 404
		}
		chat := prompt
		if who.is == "" && who.role == "viewer" { // as where there is no session: he could make none
			chat = 403
		}
		if who.is == "" { // as where nothing was ever said
			follow, stop = 204, 200
		}
		n := who.name + who.role
		s.all([]asked{
			{who.name, who.role, "POST", "/api/sessions/s/chat", submit("", "r"+n, "hello"), adapter},
			{who.name, who.role, "POST", "/api/chat", submit("s", "c"+n, "hello"), chat},
			{who.name, who.role, "GET", "/api/sessions/s/chat/stream", "", follow},
			{who.name, who.role, "GET", "/api/sessions/s/chat/x/stream", "", follow},
			{who.name, who.role, "GET", "/api/chat/s/stream", "", follow},
			{who.name, who.role, "GET", "/api/chat?client=6/s/stream", "", follow},
			{who.name, who.role, "POST", "/api/chat/s/stop", "", stop},
			{who.name, who.role, "POST", "/api/sessions/s/stop", "", stop},
			{who.name, who.role, "GET", "/api/sessions/s", "", read},
			{who.name, who.role, "GET", "/api/sessions/s/messages", "", read},
			{who.name, who.role, "GET", "/api/sessions/s/trace", "", read},
			{who.name, who.role, "GET", "/api/sessions/s/tools", "", read},
			{who.name, who.role, "GET", "/api/sessions/s/channels", "", read},
			{who.name, who.role, "PATCH", "/api/sessions/s", `{"title":"new"}`, prompt},
			{who.name, who.role, "PUT", "/api/sessions/s/members/dora", `{"role":"viewer"}`, own},
			{who.name, who.role, "DELETE", "/api/sessions/s/members/dora", "", own},
		})
		permit := own
		if who.role != "admin" && own == 200 { // that the session is one's own does not make one an approver
			permit = 403
		}
		for path, enough := range map[string]int{"permissions/x": permit, "questions/x": prompt} {
			status, _, body := s.do("POST", "/api/sessions/s/"+path, `{"value":"x"}`, as(who.name, who.role)...)
			switch want := map[int]string{200: "", 403: "forbidden", 404: "unknown_session"}[enough]; {
			case want == "" && (status == 403 || strings.Contains(body, "unknown_session")), want != "" && !strings.Contains(body, want):
				t.Errorf("%s %s: %d %s", who.name, path, status, body)
			}
		}
	}
	// A session that is somebody else's is like none, but for one thing: its id is taken.
	for _, path := range []string{"/api/sessions/s", "/api/sessions/none"} {
		for _, method := range []string{"GET", "DELETE", "PATCH"} {
			if status, _, body := s.do(method, path, `{}`, as("bob", "collaborator")...); status != 404 || !strings.HasPrefix(body, `{"error":"There is no such session.","code":"unknown_session"}`) {
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
	}
	s.all([]asked{
		{"bob", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 409},
		{"ada", "collaborator", "DELETE", "/api/sessions/s", "", 204},
	})
}

// A caller without access is refused before anything of the session begins.
//
//evidence:for promise-private
func TestB05_B07_NothingIsBegunForStrangers(t *testing.T) {
	s := newStandWith(t, privately)
	s.do("POST", "/api/chat", submit("s", "u1", "hello"), as("ada", "collaborator")...)
	_, _, before := s.do("GET", "/api/sessions/s/trace", "", as("ada", "collaborator")...)
	s.all([]asked{
		{"bob", "collaborator", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 404},
		{"bob", "collaborator", "POST", "/api/chat", submit("s", "u2", "hello"), 404},
		{"bob", "collaborator", "POST", "/api/chat", `{"id":"s","trigger":"regenerate-message","messages":[]}`, 404},
		{"bob", "collaborator", "POST", "/api/chat", `{"id":"s","messages":[{"id":"m","role":"assistant","parts":[]}]}`, 404},
		{"bob", "viewer", "POST", "/api/chat", submit("other", "u2", "hello"), 403},
	})
	if _, _, after := s.do("GET", "/api/sessions/s/trace", "", as("ada", "collaborator")...); after != before {
		t.Errorf("the trace has become\n%s", after)
	}
	if _, _, list := s.do("GET", "/api/sessions", "", as("root", "admin")...); strings.Contains(list, "other") {
		t.Errorf("a session was made: %s", list)
	}
}

func TestB08_ForeignSessionIs403BySetting(t *testing.T) {
	s := newStandWith(t, privately, func(o *gateway.Options) { o.ForeignSession = http.StatusForbidden })
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/chat", submit("s", "u1", "hello"), 200},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, 200},
		{"bob", "collaborator", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 403},
		{"vera", "collaborator", "POST", "/api/sessions/s/chat", submit("", "u3", "hello"), 403},
		{"bob", "collaborator", "GET", "/api/sessions/s/messages", "", 403},
		{"bob", "collaborator", "POST", "/api/sessions/none/chat", submit("", "u2", "hello"), 404},
	})
}

// With roles that hold for the whole gateway, a viewer who prompts by the RFC's route
// hears that there is no such session.
func TestB09_ViewerWhoPromptsGets404(t *testing.T) {
	for _, adapt := range [][]func(*gateway.Options){nil, {privately}} {
		s := newStandWith(t, adapt...)
		s.all([]asked{
			{"ada", "admin", "POST", "/api/chat", submit("s", "u1", "hello"), 200},
			{"ada", "admin", "PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, 200},
			{"vera", "viewer", "GET", "/api/sessions/s/messages", "", 200},
			{"vera", "viewer", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 404},
			{"vera", "viewer", "POST", "/api/chat", submit("s", "u2", "hello"), 403},
			{"vera", "viewer", "GET", "/api/sessions/s/chat/stream", "", 200},
		})
	}
}

func TestB06_SharedSessionsGoByTheRoleInTheGateway(t *testing.T) {
	s := newStandWith(t)
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/chat", submit("s", "u1", "hello"), 200},
		{"bob", "collaborator", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 200},
		{"vera", "viewer", "GET", "/api/sessions/s/messages", "", 200},
		{"ada", "collaborator", "DELETE", "/api/sessions/s", "", 403},
		{"root", "admin", "PUT", "/api/sessions/s/members/vera", `{"role":"collaborator"}`, 200},
		{"vera", "viewer", "POST", "/api/sessions/s/chat", submit("", "u3", "hello"), 200},
		{"root", "admin", "DELETE", "/api/sessions/s/members/vera", "", 200},
		{"vera", "viewer", "POST", "/api/sessions/s/chat", submit("", "u4", "hello"), 404},
	})
}

// Sessions of these kinds are their owner's alone, whatever anybody's role is and
// whatever else is set.
//
//evidence:for promise-private
func TestB10_OrchestratorsAreNeverOpenToOthers(t *testing.T) {
	for _, adapt := range [][]func(*gateway.Options){nil, {privately}} {
		for _, kind := range []string{"orchestrator", "workflow"} {
			s := newStandWith(t, adapt...)
			s.all([]asked{
				{"ada", "admin", "POST", "/api/sessions", `{"id":"s","kind":"` + kind + `"}`, 201},
				{"ada", "admin", "POST", "/api/sessions/s/chat", submit("", "u1", "hello"), 200},
				{"root", "admin", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 404},
				{"root", "admin", "GET", "/api/sessions/s", "", 404},
				{"root", "admin", "DELETE", "/api/sessions/s", "", 404},
				{"root", "admin", "POST", "/api/chat", submit("s", "u2", "hello"), 404},
				{"ada", "admin", "PUT", "/api/sessions/s/members/bob", `{"role":"viewer"}`, 400},
			})
			if _, _, list := s.do("GET", "/api/sessions", "", as("root", "admin")...); strings.Contains(list, `"s"`) {
				t.Errorf("others find it: %s", list)
			}
			if _, _, list := s.do("GET", "/api/sessions", "", as("ada", "admin")...); !strings.Contains(list, `"kind":"`+kind+`"`) {
				t.Errorf("its owner does not find it: %s", list)
			}
		}
	}
	s := newStandWith(t)
	s.all([]asked{{"ada", "admin", "POST", "/api/sessions", `{"kind":"other"}`, 400}})
}

//evidence:for promise-private
func TestTheListShowsWhatOneMaySee(t *testing.T) {
	s := newStandWith(t, privately)
	for i := range 12 {
		who := []string{"ada", "bob", "carl"}[i%3]
		s.all([]asked{{who, "collaborator", "POST", "/api/sessions", fmt.Sprintf(`{"id":"s%02d"}`, i), 201}})
	}
	s.all([]asked{{"bob", "collaborator", "PUT", "/api/sessions/s01/members/ada", `{"role":"viewer"}`, 200}})
	ids := func(who, role string, limit int) (all []string) {
		path := fmt.Sprintf("/api/sessions?limit=%d", limit)
		for range 20 {
			_, header, body := s.do("GET", path, "", as(who, role)...)
			var page struct {
				Sessions []struct{ ID, Role, Owner string }
			}
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			for _, one := range page.Sessions {
				all = append(all, one.ID)
				if (one.Role == "owner") != (one.Owner == who || role == "admin") {
					t.Errorf("%s is %s of %+v", who, one.Role, one)
				}
			}
			link := header.Get("Link")
			if link == "" {
				break
			}
			path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
		}
		slices.Sort(all)
		return all
	}
	for _, limit := range []int{1, 2, 100} {
		for who, want := range map[string]string{"ada": "s00 s01 s03 s06 s09", "carl": "s02 s05 s08 s11", "dora": ""} {
			if got := strings.Join(ids(who, "viewer", limit), " "); got != want {
				t.Errorf("pages of %d for %s: %s", limit, who, got)
			}
		}
		if got := ids("root", "admin", limit); len(got) != 12 {
			t.Errorf("pages of %d for an owner: %s", limit, got)
		}
	}
}

//evidence:for limit-members
func TestMembers(t *testing.T) {
	s := newStandWith(t, privately)
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 201},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/bob", `{"role":"admin"}`, 400},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/bob", `{}`, 400},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/ada", `{"role":"viewer"}`, 400},
		{"ada", "collaborator", "PUT", "/api/sessions/s/members/" + strings.Repeat("x", 201), `{"role":"viewer"}`, 400},
		{"ada", "collaborator", "PUT", "/api/sessions/none/members/bob", `{"role":"viewer"}`, 404},
	})
	_, _, body := s.do("PUT", "/api/sessions/s/members/auth0%7Cb%2Fob", `{"role":"owner"}`, as("ada", "collaborator")...)
	if body != `{"members":{"auth0|b/ob":"owner"},"principal":"auth0|b/ob"}`+"\n" {
		t.Errorf("%s", body)
	}
	s.all([]asked{
		{"auth0|b/ob", "viewer", "PUT", "/api/sessions/s/members/carl", `{"role":"viewer"}`, 200},
		{"carl", "viewer", "GET", "/api/sessions/s", "", 200},
	})
	if _, _, body := s.do("GET", "/api/sessions/s", "", as("carl", "viewer")...); strings.Contains(body, "members") || !strings.Contains(body, `"role":"viewer"`) {
		t.Errorf("a viewer is told of the others: %s", body)
	}
	if _, _, body := s.do("GET", "/api/sessions/s", "", as("ada", "viewer")...); !strings.Contains(body, `"members":{"auth0|b/ob":"owner","carl":"viewer"}`) {
		t.Errorf("the owner is not: %s", body)
	}
	s.all([]asked{
		{"ada", "collaborator", "DELETE", "/api/sessions/s/members/carl", "", 200},
		{"ada", "collaborator", "DELETE", "/api/sessions/s/members/carl", "", 200},
		{"carl", "viewer", "GET", "/api/sessions/s", "", 404},
	})
}

// A person who asks an agent to act does not thereby decide that it may, not even in a
// session of their own.
func TestB06_ThePersonWhoPromptsIsNotTherebyTheApprover(t *testing.T) {
	for name, c := range map[string]struct {
		permits []access.Who
		answers []string // of root, who is an admin; ada, the session's owner; carl and olga, members, olga in the group ops
	}{
		"nothing set":  {nil, []string{"root"}},
		"a role":       {[]access.Who{{Role: access.Collaborator}}, []string{"root", "ada", "carl"}},
		"a group":      {[]access.Who{{Group: "ops"}}, []string{"olga"}},
		"one of these": {[]access.Who{{Group: "ops"}, {Role: access.Admin}}, []string{"root", "olga"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandWith(t, privately, func(o *gateway.Options) { o.Permits = c.permits })
			s.all([]asked{
				{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s"}`, 201},
				{"ada", "collaborator", "PUT", "/api/sessions/s/members/carl", `{"role":"collaborator"}`, 200},
				{"ada", "collaborator", "PUT", "/api/sessions/s/members/olga", `{"role":"viewer"}`, 200},
			})
			for who, role := range map[string]string{"root": "admin", "ada": "collaborator", "carl": "collaborator", "olga": "viewer"} {
				_, _, body := s.do("POST", "/api/chat", submit("s", "u-"+who, "approve"), as("ada", "collaborator")...)
				_, rest, _ := strings.Cut(body, `"approvalId":"`)
				id, _, found := strings.Cut(rest, `"`)
				if !found {
					t.Fatalf("nothing is asked in %s", body)
				}
				want := 403
				if slices.Contains(c.answers, who) {
					want = 200
				}
				header := as(who, role)
				if who == "olga" {
					header = append(header, "X-Test-Groups", "staff ops")
				}
				address := "/api/sessions/s/permissions/" + id
				if status, _, text := s.do("POST", address, `{"approved":true}`, header...); status != want {
					t.Errorf("%s answers: %d %s, want %d", who, status, text, want)
				}
				if status, _, text := s.do("POST", address, `{"approved":true}`, as("bob", "collaborator")...); status != 404 {
					t.Errorf("a stranger answers: %d %s", status, text)
				}
				s.do("POST", "/api/sessions/s/stop", "", as("ada", "collaborator")...)
			}
		})
	}
}

// The answer of a client's next POST counts as little as any other of a person who may
// not approve, and so does a typed one.
func TestB06_NoOtherWayRoundTheApprover(t *testing.T) {
	s := newStandWith(t, privately)
	_, _, body := s.do("POST", "/api/chat", submit("s", "u1", "approve"), as("ada", "collaborator")...)
	if !strings.Contains(body, `"approvalId":"`) {
		t.Fatalf("nothing is asked in %s", body)
	}
	if status, _, text := s.do("POST", "/api/chat", submit("s", "u2", "yes"), as("ada", "collaborator")...); status != 403 {
		t.Errorf("a typed yes: %d %s", status, text)
	}
}

// An agent with roles is for those people only: for a new session, and for a prompt in one
// that is there.
func TestB06_AnAgentIsForThoseWhoAreNamed(t *testing.T) {
	second := func(o *session.Options) {
		o.Agents["echo"] = session.Agent{Runtime: echo.Runtime{}, Cwd: t.TempDir()}
	}
	s := newStandOn(t, memlog.New(), second, func(o *gateway.Options) {
		o.Users = map[string][]access.Who{"demo": {{Role: access.Admin}, {Group: "coders"}}}
	})
	s.all([]asked{
		{"ada", "collaborator", "POST", "/api/sessions", `{"id":"s1","agent":"demo"}`, 403},
		{"ada", "collaborator", "POST", "/api/chat?agent=demo", submit("s1", "u1", "hello"), 403},
		{"ada", "collaborator", "POST", "/api/chat?agent=echo", submit("s2", "u1", "hello"), 200},
		{"root", "admin", "POST", "/api/sessions", `{"id":"s1","agent":"demo"}`, 201},
		{"ada", "collaborator", "POST", "/api/chat", submit("s1", "u1", "hello"), 403},
		{"ada", "collaborator", "POST", "/api/sessions/s1/chat", submit("", "u1", "hello"), 403},
		{"root", "admin", "POST", "/api/sessions/s1/chat", submit("", "u1", "hello"), 200},
	})
	s.do("POST", "/api/chat", submit("s1", "u9", "question"), as("root", "admin")...)
	s.all([]asked{ // every other way by which words or settings reach the agent
		{"ada", "collaborator", "POST", "/api/chat/s1/steer", `{"text":"do this"}`, 403},
		{"ada", "collaborator", "PATCH", "/api/sessions/s1", `{"model":"other"}`, 403},
		{"ada", "collaborator", "PATCH", "/api/sessions/s1", `{"mode":"plan"}`, 403},
		{"ada", "collaborator", "PATCH", "/api/sessions/s1", `{"title":"x"}`, 200},
		{"ada", "collaborator", "POST", "/api/sessions/s1/questions/q", `{"value":"x"}`, 403},
		{"ada", "collaborator", "POST", "/api/sessions/s1/stop", "", 200},
		{"vera", "viewer", "POST", "/api/chat/s1/steer", `{"text":"do this"}`, 403},
	})
	header := append(as("ada", "collaborator"), "X-Test-Groups", "coders")
	if status, _, text := s.do("POST", "/api/chat", submit("s1", "u2", "hello"), header...); status != 200 {
		t.Errorf("a member of the group: %d %s", status, text)
	}
}

func TestI01_I03_WithoutTheAdapterItsRouteIsUnknown(t *testing.T) {
	s := newStandWith(t, func(o *gateway.Options) { o.NoSessionChat = true })
	s.all([]asked{{"ada", "admin", "POST", "/api/chat", submit("s", "u1", "hello"), 200}})
	for _, ask := range []string{"POST /api/sessions/s/chat", "GET /api/sessions/s/chat/stream", "GET /api/sessions/s/chat/x/stream"} {
		method, path, _ := strings.Cut(ask, " ")
		status, _, body := s.do(method, path, submit("", "u2", "hello"))
		if status != 404 || body != "There is no "+ask+" here: see the documentation for the routes." {
			t.Errorf("%s: %d %s", ask, status, body)
		}
	}
	s.all([]asked{
		{"ada", "admin", "GET", "/api/chat/s/stream", "", 200},
		{"ada", "admin", "GET", "/api/sessions/s/messages", "", 200},
		{"ada", "admin", "POST", "/api/sessions/s/stop", "", 200},
	})
}

func TestI02_ASessionMayKeepTheAdapterOut(t *testing.T) {
	s := newStandWith(t)
	s.all([]asked{
		{"ada", "admin", "POST", "/api/sessions", `{"id":"s","ai_sdk":false}`, 201},
		{"ada", "admin", "POST", "/api/sessions/s/chat", submit("", "u1", "hello"), 404},
		{"ada", "admin", "GET", "/api/sessions/s/chat/stream", "", 404},
		{"ada", "admin", "GET", "/api/sessions/s/chat/x/stream", "", 404},
		{"ada", "admin", "GET", "/api/sessions/s/messages", "", 200},
		{"vera", "viewer", "PATCH", "/api/sessions/s", `{"ai_sdk":true}`, 403},
		{"ada", "admin", "PATCH", "/api/sessions/s", `{"ai_sdk":"yes"}`, 400},
		{"ada", "admin", "PATCH", "/api/sessions/s", `{"ai_sdk":true,"title":"Open"}`, 200},
		{"ada", "admin", "POST", "/api/sessions/s/chat", submit("", "u1", "hello"), 200},
		{"ada", "admin", "PATCH", "/api/sessions/s", `{"ai_sdk":false}`, 200},
		{"ada", "admin", "POST", "/api/sessions/s/chat", submit("", "u2", "hello"), 404},
		{"ada", "admin", "PATCH", "/api/sessions/none", `{"ai_sdk":false}`, 404},
	})
	if _, _, body := s.do("GET", "/api/sessions/s", ""); !strings.Contains(body, `"ai_sdk":false`) || !strings.Contains(body, `"title":"Open"`) {
		t.Errorf("%s", body)
	}
}

const clientRan = `{"id":"s","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]},{"id":"m1","role":"assistant","parts":[{"type":"tool-weather","toolCallId":"call_1","state":"output-available","input":{},"output":"sun"}]}]}`

func TestB14_J03_ToolOutputsOfClients(t *testing.T) {
	ignoring, rejecting := newStandWith(t), newStandWith(t, func(o *gateway.Options) { o.RejectToolOutputs = true })
	for _, s := range []stand{ignoring, rejecting} {
		s.do("POST", "/api/chat", submit("s", "u1", "hello"))
	}
	_, _, before := ignoring.do("GET", "/api/sessions/s/trace", "")
	if status, _, body := ignoring.do("POST", "/api/sessions/s/chat", clientRan); status != 409 {
		t.Errorf("ignored: %d %s", status, body)
	}
	if _, _, after := ignoring.do("GET", "/api/sessions/s/trace", ""); after != before {
		t.Errorf("it was not ignored:\n%s", after)
	}
	for _, path := range []string{"/api/chat", "/api/sessions/s/chat"} {
		status, _, body := rejecting.do("POST", path, clientRan)
		if status != 400 || body != "All tools run on the server: this session takes no outputs of tools from a client." {
			t.Errorf("rejected: %d %s", status, body)
		}
		if status, _, body := rejecting.do("POST", path, strings.Replace(clientRan, "output-available", "output-error", 1)); status != 400 {
			t.Errorf("an error is an output too: %d %s", status, body)
		}
	}
	// Outputs of the gateway's own tools are no outputs of the client, and neither are
	// those of an older message.
	if status, _, body := rejecting.do("POST", "/api/chat", strings.Replace(clientRan, `"state"`, `"providerExecuted":true,"state"`, 1)); status != 409 {
		t.Errorf("our own: %d %s", status, body)
	}
	next := strings.TrimSuffix(clientRan, "]}") + `,{"id":"u2","role":"user","parts":[{"type":"text","text":"hello"}]}]}`
	if status, _, body := rejecting.do("POST", "/api/chat", next); status != 200 {
		t.Errorf("a new message: %d %s", status, body)
	}
	// Answers to what the gateway has asked are taken as ever.
	_, _, stream := rejecting.do("POST", "/api/chat", submit("q", "u1", "ask"))
	_, rest, _ := strings.Cut(stream, `"messageId":"`)
	message, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(stream, `"tool-input-available","toolCallId":"`)
	call, _, _ := strings.Cut(rest, `"`)
	answer := fmt.Sprintf(`{"id":"q","messages":[{"id":%q,"role":"assistant","parts":[{"type":"tool-AskUser","toolCallId":%q,"state":"output-available","input":{},"output":"green"}]}]}`, message, call)
	if status, _, body := rejecting.do("POST", "/api/chat", answer); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("an answer: %d %s", status, body)
	}
}

func TestB12_J04_Channels(t *testing.T) {
	s := newStandWith(t)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	if _, _, body := s.do("GET", "/api/sessions/s/channels", ""); body != `{"channels":[{"id":"","default":true}]}`+"\n" {
		t.Errorf("before anything was said: %s", body)
	}
	for i, query := range []string{"", "?channelId=slack-123", "", "?channelId=slack-123", "?channelId=web-1"} {
		s.do("POST", "/api/sessions/s/chat"+query, submit("", fmt.Sprint("u", i), "hello"))
	}
	if _, _, body := s.do("GET", "/api/sessions/s/channels", ""); body != `{"channels":[{"id":"","default":true},{"id":"slack-123","default":false},{"id":"web-1","default":false}]}`+"\n" {
		t.Errorf("%s", body)
	}
}

func TestB15_B16_Tools(t *testing.T) {
	s := newStandWith(t)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	if _, _, body := s.do("GET", "/api/sessions/s/tools", ""); body != `{"tools":[]}`+"\n" {
		t.Errorf("before any call: %s", body)
	}
	s.do("POST", "/api/chat", submit("s", "u1", "tool"))
	_, header, _ := s.do("POST", "/api/chat", submit("s", "u2", "tool fail"))
	path, points := strings.CutSuffix(strings.TrimPrefix(header.Get("Link"), "<"), `>; rel="describedby"`)
	if !points {
		t.Fatalf("the stream says of its tools: %q", header.Get("Link"))
	}
	_, _, body := s.do("GET", path, "")
	var got struct {
		Tools []struct {
			Name, Kind       string
			Calls            int
			ProviderExecuted bool `json:"provider_executed"`
			InputSchema      struct {
				Type       string
				Properties map[string]struct{ Type string }
				Required   []string
			} `json:"input_schema"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Tools) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	for _, tool := range got.Tools {
		if tool.Name == "" || tool.Kind == "" || tool.Calls == 0 || !tool.ProviderExecuted || tool.InputSchema.Type != "object" || len(tool.InputSchema.Properties) == 0 {
			t.Errorf("%+v in %s", tool, body)
		}
		for _, name := range tool.InputSchema.Required {
			if tool.InputSchema.Properties[name].Type == "" {
				t.Errorf("%s has no type in %s", name, body)
			}
		}
	}
}
