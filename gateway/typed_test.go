package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// shown lists what a page of history shows: the words of users, and a for an answer.
func (s stand) shown(query string) string {
	s.t.Helper()
	_, _, body := s.do("GET", "/api/sessions/c1/messages"+query, "")
	var messages []uistream.Message
	if err := json.Unmarshal([]byte(body), &messages); err != nil {
		s.t.Fatal(err, body)
	}
	var all []string
	for _, m := range messages {
		said := "a"
		if m.Role == "user" {
			said = m.Parts[0].Text
		}
		all = append(all, said)
	}
	return strings.Join(all, " ")
}

// Words that answer a question belong to the turn that asked it. Who edits them takes
// back that part of the turn, and no more of it.
func TestAnAnswerInWordsIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(o *session.Options) { o.OnDisconnect = session.Detach })
	s.do("POST", "/api/chat", submit("c1", "u1", "ask"))
	s.do("POST", "/api/chat", submit("c1", "u2", "blue"))
	if got := s.shown(""); got != "ask a blue a" {
		t.Fatalf("answered: %s", got)
	}
	s.do("POST", "/api/chat", submit("c1", "u3", "hello"))
	for _, words := range []string{"red", "green"} {
		if status, _, body := s.do("POST", "/api/chat", submit("c1", "u2", words)); status != 200 {
			t.Fatalf("edited: %d %s", status, body)
		}
		if got, want := s.shown(""), "ask a "+words+" a"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
	}
	if got := s.shown("?limit=1"); got != "green a" {
		t.Errorf("the last page is %q", got)
	}
	s.do("POST", "/api/chat", submit("c1", "u1", "hello"))
	if got := s.shown(""); got != "hello a" {
		t.Errorf("all of it taken back: %q", got)
	}
}
