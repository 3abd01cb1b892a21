package gateway_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway"
)

// waitingRequest is a request as a client reads it.
type waitingRequest struct {
	ID, Kind, Session, Agent, Turn, Tool, Title, Text, At string
	SessionTitle                                          string `json:"session_title"`
	MessageID                                             string `json:"message_id"`
	ToolCallID                                            string `json:"tool_call_id"`
	Input                                                 json.RawMessage
	Options                                               []struct{ ID, Name, Kind, Scope string }
	Choices                                               []struct{ Label string }
	MayAnswer                                             bool `json:"may_answer"`
	TakesInput                                            bool `json:"takes_input"`
	TakesReason                                           bool `json:"takes_reason"`
}

// inbox reads what waits.
func (s stand) inbox(path string, header ...string) (all []waitingRequest) {
	s.t.Helper()
	status, _, body := s.do("GET", path, "", header...)
	var list struct{ Requests []waitingRequest }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || list.Requests == nil {
		s.t.Fatalf("%s: %d %s %v", path, status, body, err)
	}
	return list.Requests
}

func TestTheInboxHasAllThatIsNeededToAnswer(t *testing.T) {
	s := newStand(t, nil)
	if all := s.inbox("/api/requests"); len(all) != 0 {
		t.Errorf("at the start: %+v", all)
	}
	s.do("POST", "/api/chat", submit("one", "u1", "approve"))
	s.do("POST", "/api/chat", submit("two", "u2", "ask"))
	all := s.inbox("/api/requests")
	if len(all) != 2 {
		t.Fatalf("there wait %+v", all)
	}
	p, q := all[0], all[1]
	if p.Kind != "permission" || p.Session != "one" || p.SessionTitle != "approve" || p.Agent != "demo" || p.Turn == "" || p.MessageID == "" || p.ToolCallID == "" ||
		p.Tool == "" || p.Title == "" || !strings.Contains(string(p.Input), `"command"`) || p.At == "" || !p.MayAnswer || !p.TakesInput || !p.TakesReason {
		t.Errorf("the permission request: %+v", p)
	}
	scopes := map[string]string{}
	for _, o := range p.Options {
		scopes[o.Kind] = o.Scope
	}
	if scopes["allow_once"] != "this call" || scopes["reject_once"] != "this call" || scopes["allow_always"] != "calls with this input in this session" {
		t.Errorf("the options reach %v", scopes)
	}
	if q.Kind != "question" || q.Session != "two" || q.Text == "" || len(q.Choices) != 3 || !q.MayAnswer || q.TakesInput || q.TakesReason {
		t.Errorf("the question: %+v", q)
	}
	if one := s.inbox("/api/sessions/two/requests"); len(one) != 1 || one[0].ID != q.ID {
		t.Errorf("of one session: %+v", one)
	}
	list := s.listen("/api/events")
	list.event()
	if status, _, body := s.do("POST", "/api/sessions/one/permissions/"+p.ID, `{"approved":true}`); status != http.StatusOK {
		t.Fatal(status, body)
	}
	list.upTo(func(e listed) bool { return e.Session.ID == "one" && len(e.Session.Waiting) == 0 })
	if all := s.inbox("/api/requests"); len(all) != 1 || all[0].ID != q.ID {
		t.Errorf("after an answer: %+v", all)
	}
	_, _, body := s.do("GET", "/api/sessions/two", "")
	if !strings.Contains(body, `"waiting":["`+q.ID+`"]`) {
		t.Errorf("the session: %s", body)
	}
}

// In private mode the inbox has the requests of a person's own sessions. A member sees what
// waits and learns whether they may answer.
func TestTheInboxOfAPersonHasTheirSessionsOnly(t *testing.T) {
	s := newStandWith(t, func(o *gateway.Options) {
		privately(o)
		o.Permits = []access.Who{{Role: access.Admin}}
	})
	ada, bob, eve, root := as("ada", "collaborator"), as("bob", "collaborator"), as("eve", "collaborator"), as("root", "admin")
	s.do("POST", "/api/chat", submit("adas", "u1", "approve"), ada...)
	s.do("POST", "/api/chat", submit("adas too", "u2", "ask"), ada...)
	s.do("PUT", "/api/sessions/adas/members/bob", `{"role":"collaborator"}`, ada...)
	s.do("PUT", "/api/sessions/adas%20too/members/bob", `{"role":"viewer"}`, ada...)
	for name, c := range map[string]struct {
		who  []string
		want []string // the sessions of the requests that they see, and whether they may answer
	}{
		"ada":  {ada, []string{"adas false", "adas too true"}},
		"bob":  {bob, []string{"adas false", "adas too false"}},
		"eve":  {eve, nil},
		"root": {root, []string{"adas true", "adas too true"}},
	} {
		var got []string
		for _, q := range s.inbox("/api/requests", c.who...) {
			got = append(got, q.Session+map[bool]string{true: " true", false: " false"}[q.MayAnswer])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s sees %q, want %q", name, got, c.want)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions/adas/requests", "", eve...); status != http.StatusNotFound {
		t.Errorf("a stranger: %d %s", status, body)
	}
	if all := s.inbox("/api/sessions/adas/requests", root...); len(all) != 1 || !all[0].MayAnswer {
		t.Errorf("an approver: %+v", all)
	}
}
