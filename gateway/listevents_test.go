package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/gateway/limit"
)

// listed is an event of the list, as a client reads it.
type listed struct {
	Type     string
	ID       string
	Next     string
	Sessions []row
	Session  row
}

type row struct {
	ID, Title, State, Role, Outcome string
	Waiting                         []string
	Turn                            *string
	UpdatedAt                       time.Time `json:"updated_at"`
}

// event reads the next event of a list.
func (s *stream) event() (e listed) {
	s.t.Helper()
	line, _ := s.until("data: ")
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &e); err != nil {
		s.t.Fatal(err)
	}
	return e
}

// upTo reads events of a list up to the first that fits.
func (s *stream) upTo(fits func(listed) bool) (events []listed) {
	s.t.Helper()
	for {
		e := s.event()
		if events = append(events, e); fits(e) {
			return events
		}
	}
}

func is(id, state string) func(listed) bool {
	return func(e listed) bool { return e.Session.ID == id && e.Session.State == state }
}

func TestTheListIsPushed(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("old", "u1", "hello"))
	list := s.listen("/api/events")
	if e := list.event(); e.Type != "list" || len(e.Sessions) != 1 || e.Sessions[0].ID != "old" || e.Sessions[0].Outcome != "completed" || e.Next != "" {
		t.Errorf("the list begins with %+v", e)
	}
	s.do("POST", "/api/chat", submit("new", "u2", "approve"))
	asks := list.upTo(is("new", "paused"))
	if e := asks[len(asks)-1].Session; e.Title != "approve" || e.Turn == nil || e.UpdatedAt.IsZero() {
		t.Errorf("a turn that waits: %+v", e)
	}
	s.do("POST", "/api/chat/new/stop", "")
	ends := list.upTo(is("new", "idle"))
	if e := ends[len(ends)-1].Session; e.Outcome != "canceled" || e.Turn != nil {
		t.Errorf("after a stop: %+v", e)
	}
	s.do("PATCH", "/api/sessions/old", `{"title":"renamed"}`)
	list.upTo(func(e listed) bool {
		return e.Type == "session" && e.Session.ID == "old" && e.Session.Title == "renamed"
	})
	s.do("DELETE", "/api/sessions/old", "")
	list.upTo(func(e listed) bool { return e.Type == "gone" && e.ID == "old" })
	// A client that comes back begins with the list as it is, whatever it had before.
	again := s.listen("/api/events?limit=1", "Last-Event-ID", "7")
	if e := again.event(); e.Type != "list" || len(e.Sessions) != 1 || e.Sessions[0].ID != "new" {
		t.Errorf("again: %+v", e)
	}
}

func TestAListThatGoesOnSaysWhere(t *testing.T) {
	s := newStand(t, nil)
	for i := range 3 {
		s.do("POST", "/api/sessions", fmt.Sprintf(`{"id":"c%d"}`, i))
	}
	e := s.listen("/api/events?limit=2").event()
	if len(e.Sessions) != 2 || e.Next == "" {
		t.Fatalf("a page of two: %+v", e)
	}
	if _, _, rest := s.do("GET", "/api/sessions?before="+e.Next, ""); strings.Count(rest, `"id"`) != 1 || !strings.Contains(rest, `"c0"`) {
		t.Errorf("the page after it: %s", rest)
	}
	if status, _, body := s.do("GET", "/api/events?limit=0", ""); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
}

// In private mode a person who is removed from a session sees the session vanish. A person
// who was never a member gets no event about the session.
func TestB07_TheListOfAPersonHasTheirSessionsOnly(t *testing.T) {
	s := newStandWith(t, privately)
	ada, bob, eve := as("ada", "collaborator"), as("bob", "collaborator"), as("eve", "collaborator")
	root := as("root", "admin")
	s.do("POST", "/api/sessions", `{"id":"bobs","title":"of bob"}`, bob...)
	s.do("POST", "/api/sessions", `{"id":"eves","title":"of eve"}`, eve...)
	lists := map[string]*stream{"bob": s.listen("/api/events", bob...), "eve": s.listen("/api/events", eve...), "root": s.listen("/api/events", root...)}
	for who, want := range map[string]int{"bob": 1, "eve": 1, "root": 2} {
		if e := lists[who].event(); e.Type != "list" || len(e.Sessions) != want {
			t.Errorf("%s begins with %+v", who, e)
		}
	}
	s.do("POST", "/api/sessions", `{"id":"secret","title":"of ada"}`, ada...)
	s.do("POST", "/api/chat", submit("secret", "u1", "hello"), ada...)
	s.do("PUT", "/api/sessions/secret/members/bob", `{"role":"viewer"}`, ada...)
	if e := lists["bob"].event(); e.Type != "session" || e.Session.ID != "secret" || e.Session.Role != "viewer" {
		t.Errorf("bob is invited: %+v", e)
	}
	s.do("PUT", "/api/sessions/secret/members/bob", `{"role":"collaborator"}`, ada...)
	if e := lists["bob"].event(); e.Session.Role != "collaborator" {
		t.Errorf("bob may do more: %+v", e)
	}
	s.do("DELETE", "/api/sessions/secret/members/bob", "", ada...)
	if e := lists["bob"].event(); e.Type != "gone" || e.ID != "secret" {
		t.Errorf("bob is put out: %+v", e)
	}
	s.do("PATCH", "/api/sessions/secret", `{"title":"later"}`, ada...)
	s.do("DELETE", "/api/sessions/secret", "", ada...)
	lists["root"].upTo(func(e listed) bool { return e.Type == "gone" && e.ID == "secret" })
	for who, own := range map[string][]string{"bob": bob, "eve": eve} { // the next thing that they hear is about their own session
		s.do("PATCH", "/api/sessions/"+who+"s", `{"title":"mine"}`, own...)
		if e := lists[who].event(); e.Session.ID != who+"s" {
			t.Errorf("%s hears of a session of another person: %+v", who, e)
		}
	}
}

func TestTheListStreamHasTheLimitsOfItsPrincipal(t *testing.T) {
	s := limited(t, limit.Options{Streams: 2}, nil)
	for range 2 {
		s.listen("/api/events").event()
	}
	if status, header, body := s.do("GET", "/api/events", ""); status != http.StatusTooManyRequests || header.Get("Retry-After") == "" || !strings.Contains(body, "too_many_streams") {
		t.Errorf("%d %s", status, body)
	}
}

func TestATokenForOneSessionHearsOfThatSession(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"other"}`)
	list := s.listen("/api/events", "X-Test-Bound", "mine")
	if e := list.event(); len(e.Sessions) != 0 {
		t.Errorf("the list begins with %+v", e)
	}
	s.do("PATCH", "/api/sessions/other", `{"title":"x"}`)
	s.do("POST", "/api/sessions", `{"id":"mine"}`)
	if e := list.event(); e.Session.ID != "mine" {
		t.Errorf("%+v", e)
	}
}
