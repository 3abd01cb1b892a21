package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

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

// A typed answer belongs to the turn that asked. An edit of the answer rewinds the turn to
// that point, and no further.
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

// A page shows the first of two requests. In another tab somebody answers that, and
// the agent asks the second. The "yes" that is typed on the page, which posts what it
// shows, is not for the second.
//
//evidence:for promise-one-answer
func TestATypedYesIsForWhatThePageShows(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	_, _, body := s.do("POST", "/api/chat", submit("c1", "u1", "twice"))
	approval := regexp.MustCompile(`"approvalId":"([^"]+)","toolCallId":"([^"]+)"`).FindStringSubmatch(body)
	if approval == nil {
		approval = regexp.MustCompile(`"approvalId":"([^"]+)"`).FindStringSubmatch(body)
	}
	message := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(body)[1]
	if approval == nil {
		t.Fatal(body)
	}
	if status, _, got := s.do("POST", "/api/sessions/c1/permissions/"+approval[1], `{"approved":true}`); status != 200 {
		t.Fatal(status, got)
	}
	trail := func() string {
		_, _, records := s.do("GET", "/api/sessions/c1/trace", "")
		return records
	}
	for range 100 {
		if strings.Count(trail(), `"type":"pause"`) == 2 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	shown := fmt.Sprintf(`{"id":%q,"role":"assistant","parts":[{"type":"text","text":"I would like to run a command."},{"type":"tool-shell","toolCallId":"x","state":"approval-requested","input":{"command":"echo one"},"approval":{"id":%q}}]}`, message, approval[1])
	status, _, _ := s.do("POST", "/api/chat", fmt.Sprintf(
		`{"id":"c1","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"twice"}]},%s,{"id":"u2","role":"user","parts":[{"type":"text","text":"yes"}]}]}`, shown))
	for line := range strings.Lines(trail()) {
		if strings.Contains(line, `"permission_response"`) && strings.Contains(line, `"words"`) {
			t.Errorf("status %d; the page showed %s only, and its yes is on record for another request: %s", status, approval[1], line)
		}
	}
}
