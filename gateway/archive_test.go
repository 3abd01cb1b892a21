package gateway_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/session"
)

// ids lists the sessions of a list in the order in which they come.
func (s stand) ids(query string) string {
	s.t.Helper()
	status, _, body := s.do("GET", "/api/sessions"+query, "")
	if status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", query, status, body)
	}
	var all []string
	for _, m := range regexp.MustCompile(`\{"id":"([^"]+)"`).FindAllStringSubmatch(body, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}

func TestAnArchivedSessionIsInItsOwnListOnly(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"a"}`)
	s.do("POST", "/api/sessions", `{"id":"b"}`)
	list := s.listen("/api/events")
	list.event()
	if status, _, body := s.do("PATCH", "/api/sessions/a", `{"archived":true}`); status != http.StatusOK || !strings.Contains(body, `"archived":true`) {
		t.Errorf("%d %s", status, body)
	}
	list.upTo(func(e listed) bool { return e.Type == "gone" && e.ID == "a" })
	for query, want := range map[string]string{"": "b", "?archived=false": "b", "?archived=true": "a"} {
		if got := s.ids(query); got != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	again := s.listen("/api/events")
	if e := again.event(); len(e.Sessions) != 1 || e.Sessions[0].ID != "b" {
		t.Errorf("a new reader of the list: %+v", e)
	}
	if status, _, body := s.do("GET", "/api/sessions/a/messages", ""); status != http.StatusOK {
		t.Errorf("its history: %d %s", status, body)
	}
	// A new prompt takes the session out of the archive.
	s.do("POST", "/api/chat", submit("a", "u1", "hello"))
	list.upTo(func(e listed) bool { return e.Type == "session" && e.Session.ID == "a" })
	again.upTo(func(e listed) bool { return e.Type == "session" && e.Session.ID == "a" })
	if got := s.ids(""); got != "a b" {
		t.Errorf("after a prompt the list has %q", got)
	}
	s.do("PATCH", "/api/sessions/b", `{"archived":true}`)
	s.do("PATCH", "/api/sessions/b", `{"archived":false}`)
	if got := s.ids(""); got != "b a" {
		t.Errorf("a session that comes back without a prompt: %q", got)
	}
}

func TestTheListIsChosenByAgentAndState(t *testing.T) {
	s := newStand(t, func(o *session.Options) { o.Agents["echo"] = session.Agent{Runtime: echo.Runtime{}, Cwd: t.TempDir()} })
	s.do("POST", "/api/chat", submit("paused", "u1", "approve"))
	s.do("POST", "/api/chat", submit("failed", "u1", "error"))
	s.do("POST", "/api/chat", submit("done", "u1", "hello"))
	s.do("POST", "/api/chat?agent=echo", submit("echoed", "u1", "hello"))
	for query, want := range map[string]string{
		"":                         "echoed done failed paused",
		"?state=idle":              "echoed done failed",
		"?state=failed":            "failed",
		"?state=paused":            "paused",
		"?state=running":           "",
		"?agent=echo":              "echoed",
		"?agent=none":              "",
		"?agent=demo&state=idle":   "done failed",
		"?agent=echo&state=failed": "",
	} {
		if got := s.ids(query); got != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	_, header, _ := s.do("GET", "/api/sessions?agent=demo&state=idle&limit=1", "")
	next := between(header.Get("Link"), "<", ">")
	if !strings.Contains(next, "agent=demo") || !strings.Contains(next, "state=idle") {
		t.Fatalf("the next page is %q", next)
	}
	if got := s.ids(strings.TrimPrefix(next, "/api/sessions")); got != "failed" {
		t.Errorf("the next page has %q", got)
	}
	for _, query := range []string{"?state=tired", "?archived=1"} {
		if status, _, body := s.do("GET", "/api/sessions"+query, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

//evidence:for limit-search-words
func TestASearchFindsWhatPeopleAndAgentsSaid(t *testing.T) {
	s := newStandWith(t, privately)
	ada, bob := as("ada", "collaborator"), as("bob", "collaborator")
	find := func(query string, who []string) string {
		t.Helper()
		status, _, body := s.do("GET", "/api/sessions?q="+query, "", who...)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", query, status, body)
		}
		var all []string
		for _, m := range regexp.MustCompile(`\{"id":"([^"]+)"`).FindAllStringSubmatch(body, -1) {
			all = append(all, m[1])
		}
		return strings.Join(all, " ")
	}
	s.do("POST", "/api/chat", submit("one", "u1", "remember the lighthouse"), ada...)
	s.do("POST", "/api/chat", submit("two", "u1", "remember the harbour"), ada...)
	s.do("POST", "/api/chat", submit("three", "u1", "remember the lighthouse"), bob...)
	s.do("PATCH", "/api/sessions/two", `{"title":"Ships of the lighthouse"}`, ada...)
	for query, want := range map[string]string{
		"lighthouse": "two one", "LIGHT": "two one", "ships+harb": "two", "ships+none": "", "": "two one", "%20": "two one", "house": "", "lighthouse&state=failed": "",
	} {
		if got := find(query, ada); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := find("lighthouse", bob); got != "three" {
		t.Errorf("bob finds %q", got)
	}
	// An edit removes what was said from the search.
	s.do("POST", "/api/chat", submit("one", "u1", "remember the beacon"), ada...)
	if got := find("lighthouse", ada) + "/" + find("beacon", ada); got != "one two/one" && got != "two one/one" {
		t.Errorf("the title keeps the first words: %q", got)
	}
	s.do("PATCH", "/api/sessions/one", `{"title":"Light"}`, ada...)
	if got := find("lighthouse", ada) + "/" + find("beacon", ada); got != "two/one" {
		t.Errorf("after an edit: %q", got)
	}
	_, header, _ := s.do("GET", "/api/sessions?q=remember&limit=1", "", ada...)
	next := between(header.Get("Link"), "<", ">")
	if _, _, body := s.do("GET", next, "", ada...); strings.Count(body, `{"id"`) != 1 || !strings.Contains(next, "q=remember") {
		t.Errorf("the next page of a search, %s: %s", next, body)
	}
	for _, query := range []string{"%2C", "a+b+c+d+e+f+g+h+i+j+k+l+m"} {
		if status, _, body := s.do("GET", "/api/sessions?q="+query, "", ada...); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}
