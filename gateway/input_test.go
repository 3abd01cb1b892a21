package gateway_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/session"
)

// input is a request that cannot be meant, and how it is answered.
type input struct {
	method, path, body string
	status             int
	want               string // the sentence, or a part of it
}

// TestBadInput: whatever is wrong has its status and one plain sentence, in the
// form of its route, which gives nothing of the inside away.
//
//evidence:for limit-message-id limit-nesting limit-page limit-session-id limit-small-body promise-known-chunks
func TestBadInput(t *testing.T) {
	s := newStand(t, func(o *session.Options) { o.MaxQueue = 1 })
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	const user = `{"role":"user","parts":[{"type":"text","text":"hello"}]}`
	long := strings.Repeat("x", 5000)
	for _, c := range []input{
		// The body of a chat.
		{"POST", "/api/chat", "", 400, "The request body is empty: send JSON with `id` and `messages`."},
		{"POST", "/api/chat", "hello", 400, "The request body is not JSON (at byte 1)."},
		{"POST", "/api/chat", "<html><body>", 400, "not JSON"},
		{"POST", "/api/chat", "id=a&messages=b", 400, "not JSON"},
		{"POST", "/api/chat", "\ufeff{}", 400, "not JSON"},
		{"POST", "/api/chat", `{"id":"a",`, 400, "The request body ends in the middle of its JSON."},
		{"POST", "/api/chat", `null`, 400, "The request body must be a JSON object with `id` and `messages`."},
		{"POST", "/api/chat", `[` + user + `]`, 400, "must be a JSON object"},
		{"POST", "/api/chat", `{"id":"a","messages":[` + user + `]}{}`, 400, "The request body goes on after its JSON object."},
		{"POST", "/api/chat", strings.Repeat("[", 5000), 400, "must be a JSON object"},
		{"POST", "/api/chat", strings.Repeat(`{"a":`, 5000), 400, "The request body is nested deeper than 100 levels."},
		{"POST", "/api/chat", `{"id":"a","x":` + strings.Repeat("[", 5000), 400, "nested deeper"},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"user","metadata":` + strings.Repeat("[", 5000), 400, "nested deeper"},
		// Its shape.
		{"POST", "/api/chat", `{}`, 400, "There is no user message in the request: send `messages` (or `message`) with one."},
		{"POST", "/api/chat", `{"id":"a","messages":null}`, 400, "`messages` must be a list of UI messages."},
		{"POST", "/api/chat", `{"id":"a","messages":{}}`, 400, "`messages` must be"},
		{"POST", "/api/chat", `{"id":"a","messages":[1]}`, 400, "A message must be an object with `id`, `role` and `parts`."},
		{"POST", "/api/chat", `{"id":"a","messages":[[]]}`, 400, "A message must be an object"},
		{"POST", "/api/chat", `{"id":"a","messages":[]}`, 400, "There is no user message"},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"system","parts":[]}]}`, 400, "There is no user message"},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"user","parts":[1]}]}`, 400, "A part of the user message is not an object."},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"user","parts":"hello"}]}`, 400, "The message is empty: send some text or a file."},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"user","parts":[{"type":"text","text":" "}]}]}`, 400, "The message is empty"},
		{"POST", "/api/chat", `{"id":"a","messages":[{"role":"user","parts":[{"type":"text","text":5}]}]}`, 400, "The message is empty"},
		{"POST", "/api/chat", `{"id":5,"messages":[` + user + `]}`, 400, "`id` must be a string."},
		{"POST", "/api/chat", `{"id":"a","trigger":{},"messages":[` + user + `]}`, 400, "`trigger` must be a string."},
		{"POST", "/api/chat", `{"id":"a","trigger":"resume","messages":[` + user + `]}`, 400, "`trigger` must be submit-message or regenerate-message."},
		{"POST", "/api/chat", `{"id":"a","messageId":[],"messages":[` + user + `]}`, 400, "`messageId` must be a string."},
		// Ids.
		{"POST", "/api/chat", `{"messages":[` + user + `]}`, 400, "The session id is missing: send it as `id`."},
		{"POST", "/api/chat", `{"id":"` + long + `","messages":[` + user + `]}`, 400, "The session id is longer than 200 bytes: use a shorter one."},
		{"POST", "/api/chat", `{"id":"..","messages":[` + user + `]}`, 400, "A session id cannot be . or ..: use letters and digits."},
		{"POST", "/api/chat", `{"id":"a\u0000b","messages":[` + user + `]}`, 400, "The session id holds a character that cannot be printed: use letters and digits."},
		{"POST", "/api/chat", `{"id":"a\nb","messages":[` + user + `]}`, 400, "cannot be printed"},
		{"POST", "/api/chat", "{\"id\":\"b\xff\",\"messages\":[" + user + "]}", 400, "`id` holds characters that are not UTF-8: send others."},
		{"POST", "/api/chat", `{"id":"b\ud800","messages":[` + user + `]}`, 400, "`id` holds characters that are not UTF-8"},
		{"POST", "/api/chat", `{"id":"known","trigger":"regenerate-message","messageId":"\udc00","messages":[]}`, 400, "`messageId` holds characters that are not UTF-8"},
		{"POST", "/api/chat", `{"id":"a","messages":[{"id":"\ud800","role":"user","parts":[{"type":"text","text":"hello"}]}]}`, 400, "The id of the user message holds characters that are not UTF-8."},
		{"POST", "/api/sessions", `{"id":"b\ud800"}`, 400, "The session id is not valid UTF-8: use letters and digits."},
		{"GET", "/api/sessions/b%EF%BF%BD", "", 404, "There is no such session."},
		{"POST", "/api/chat", `{"id":"a","messages":[{"id":"` + long + `","role":"user","parts":[{"type":"text","text":"hello"}]}]}`, 400, "The id of the user message is longer than 1000 bytes."},
		{"POST", "/api/chat", `{"id":"known","trigger":"regenerate-message","messageId":"nope","messages":[]}`, 404, "There is no such message in this session."},
		// Agents and clients.
		{"POST", "/api/chat?agent=nobody", submit("a", "u", "hi"), 400, `There is no such agent as "nobody": there are demo.`},
		{"POST", "/api/chat", `{"id":"a","agent":"` + long + `","messages":[` + user + `]}`, 400, "There is no such agent"},
		{"POST", "/api/chat", `{"id":"known","agent":"` + long + `","messages":[` + user + `]}`, 409, "This session is with the agent demo"},
		{"POST", "/api/chat", `{"id":"known","agent":"<b>\n\u0007\u2028","messages":[` + user + `]}`, 409, "This session is with the agent demo"},
		{"POST", "/api/chat?client=4", submit("a", "u", "hi"), 400, "is not a version of the AI SDK"},
		{"GET", "/api/chat/known/stream?client=7.x", "", 400, "is not a version of the AI SDK"},
		{"GET", "/api/chat/known/stream?client=" + long, "", 400, "is not a version of the AI SDK"},
		{"GET", "/api/sessions/known/messages?client=0", "", 400, "is not a version of the AI SDK"},
		// Sessions and requests that do not exist, or no longer.
		{"POST", "/api/sessions/nope/chat", submit("x", "u", "hi"), 404, "There is no such session."},
		{"POST", "/api/sessions/%2e%2e/chat", submit("x", "u", "hi"), 404, "There is no such session."},
		{"GET", "/api/sessions/" + long, "", 404, "There is no such session."},
		{"GET", "/api/sessions/%ff", "", 404, "There is no such session."},
		{"GET", "/api/sessions/%00", "", 404, "There is no such session."},
		{"GET", "/api/sessions/a%2F..%2Fb%25", "", 404, "There is no such session."},
		{"GET", "/api/sessions//messages", "", 404, "There is no such session."},
		{"GET", "/api/sessions/nope/messages", "", 404, "There is no such session."},
		{"GET", "/api/sessions/nope/trace", "", 404, "There is no such session."},
		{"GET", "/api/sessions/nope/tools", "", 404, "There is no such session."},
		{"GET", "/api/sessions/nope/channels", "", 404, "There is no such session."},
		{"DELETE", "/api/sessions/nope", "", 404, "There is no such session."},
		{"POST", "/api/sessions/known/permissions/nope", `{"approved":true}`, 404, "There is no such request in this session."},
		{"POST", "/api/sessions/nope/permissions/nope", `{"approved":true}`, 404, "There is no such session."},
		{"POST", "/api/sessions/known/questions/" + long, `{"value":"x"}`, 404, "There is no such request in this session."},
		{"POST", "/api/chat", `{"id":"known","messages":[` + user + `,{"id":"m","role":"assistant","parts":[]}]}`, 409, "This message is not waiting for an answer"},
		{"POST", "/api/chat", `{"id":"known","messages":[],"messages":[{"role":"user","role":"assistant","parts":[]}]}`, 409, "This message is not waiting"}, // of a key that comes twice the last counts
		{"GET", "/api/nope", "", 404, "There is no GET /api/nope here: see the documentation for the routes."},
		{"GET", "/api/" + long, "", 404, "There is no GET /api/x"},
		{"GET", "/api/sessions/known/", "", 404, "There is no GET /api/sessions/known/ here"},
		// Parameters.
		{"GET", "/api/sessions/known/messages?limit=0", "", 400, "`limit` must be a whole number from 1 to 1000."},
		{"GET", "/api/sessions/known/messages?limit=-1", "", 400, "`limit` must be"},
		{"GET", "/api/sessions/known/messages?limit=1e3", "", 400, "`limit` must be"},
		{"GET", "/api/sessions/known/messages?before=nope", "", 404, `There is no such message in this session: history has no turn "nope" to go back from.`},
		{"GET", "/api/sessions/known/messages?before=" + long, "", 404, "There is no such message in this session"},
		{"GET", "/api/sessions/known/trace?after=x", "", 400, "`after` must be a whole number"},
		{"GET", "/api/sessions/known/trace?after=99999999999999999999", "", 400, "`after` must be a whole number"},
		// Small bodies.
		{"POST", "/api/chat/known/stop", "x", 400, "The request body is not JSON (at byte 1)."},
		{"POST", "/api/chat/known/stop", `[]`, 400, "The request body must be a JSON object with `turn` or `queue`."},
		{"POST", "/api/chat/known/stop", `{"turn":5}`, 400, "`turn` must be a string."},
		{"POST", "/api/chat/known/stop", `{"turn":"a"} x`, 400, "not JSON"},
		{"POST", "/api/chat/known/stop", `{"turn":"a"}{}`, 400, "The request body goes on after its JSON object."},
		{"POST", "/api/chat/known/stop", `{"turn":`, 400, "The request body ends in the middle of its JSON."},
		{"POST", "/api/chat/known/stop", strings.Repeat(" ", 1<<20) + `{}`, 413, "The request body is larger than 1 MB: send less."},
		{"POST", "/api/sessions", `{"id":"known"}`, 409, "A session with this id exists already."},
		{"POST", "/api/sessions", `{"agent":"nobody"}`, 400, `There is no such agent as "nobody"`},
		{"POST", "/api/sessions", `{"cwd":"/"}`, 400, "`cwd` is not a key here: send `id`, `agent`, `title`, `kind`, `ai_sdk`, `compat`, `resume`, `mode` or `model`."},
		{"POST", "/api/sessions", `{"` + long + `":"/"}`, 400, "`xxxx"},
		{"POST", "/api/sessions", `{"id":"a/../b\u0000"}`, 400, "cannot be printed"},
		{"POST", "/api/sessions/known/permissions/x", `{"approved":"yes"}`, 400, "`approved` must be true or false."},
		{"POST", "/api/sessions/known/permissions/x", `"allow"`, 400, "The request body must be a JSON object with `option`, `approved`, `reason`, `updated_input` or `interrupt`."},
		{"POST", "/api/sessions/known/questions/x", ``, 400, "The answer is missing: send it as `value`."},
		{"POST", "/api/sessions/known/questions/x", `{"value":5}`, 400, "`value` must be a string, or a list of strings."},
		// Methods.
		{"GET", "/api/chat", "", 405, "Send a POST to this address to chat."},
		{"GET", "/api/chat?x/%zz/stream", "", 405, "Send a POST"},
		{"PUT", "/api/chat", "{}", 405, "This address does not take PUT: send GET or HEAD or POST."},
		{"OPTIONS", "/api/chat", "", 405, "does not take OPTIONS"},
		{"POST", "/api/chat/known/stream", "", 405, "send GET or HEAD."},
		{"GET", "/api/chat/known/stop", "", 405, "send POST."},
		{"PATCH", "/api/sessions", "", 405, "send GET or HEAD or POST."},
		{"PUT", "/api/sessions/known", "", 405, "send GET or HEAD or PATCH or DELETE."},
		{"DELETE", "/api/sessions/known/messages", "", 405, "send GET or HEAD."},
		{"POST", "/api/sessions/known/trace", "", 405, "send GET or HEAD."},
		{"GET", "/api/sessions/known/permissions/x", "", 405, "send POST."},
		{"POST", "/metrics", "", 405, "send GET or HEAD."},
		{"DELETE", "/healthz", "", 405, "send GET or HEAD."},
		{"FETCH", "/api/agents", "", 405, "does not take FETCH"},
	} {
		status, header, body := s.do(c.method, c.path, c.body)
		name := c.method + " " + cut(c.path) + " " + cut(c.body)
		text := sentenceOf(t, name, c.path, header, body)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status == 405 && header.Get("Allow") == "" {
			t.Errorf("%s: 405 without Allow", name)
		}
	}
	if _, _, body := s.do("GET", "/api/sessions", ""); strings.Count(body, `"id":`) != 1 {
		t.Errorf("a bad request made a session: %s", body)
	}
}

// sentenceOf takes an answer apart and checks its form.
func sentenceOf(t *testing.T, name, path string, header http.Header, body string) string {
	t.Helper()
	text, kind := body, "text/plain"
	if !strings.HasPrefix(path, "/api/chat") && !strings.HasSuffix(path, "/chat") {
		kind = "application/json"
		var refusal struct{ Error, Code string }
		if err := json.Unmarshal([]byte(body), &refusal); err != nil || !regexp.MustCompile(`^[a-z_]+$`).MatchString(refusal.Code) {
			t.Errorf("%s: %v: %s", name, err, body)
		}
		text = refusal.Error
	}
	switch {
	case !strings.HasPrefix(header.Get("Content-Type"), kind) || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store":
		t.Errorf("%s: %v", name, header)
	case !regexp.MustCompile("^[A-Z`].*\\.$").MatchString(text) || len(text) > 410 || !utf8.ValidString(text):
		t.Errorf("%s: this is no sentence: %q", name, text)
	case strings.Contains(text, "Go ") || strings.Contains(text, "json:") || strings.Contains(text, ".go") || strings.Contains(text, "0x"):
		t.Errorf("%s: this is from the inside: %q", name, text)
	}
	return text
}

func cut(s string) string { return s[:min(len(s), 60)] }

// Unusual but meaningful input is accepted.
func TestUnusualInput(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	for _, c := range []struct {
		name   string
		body   string
		header []string
	}{
		{"no content type", submit("a", "u", "hello"), nil},
		{"a form's content type", submit("a", "u2", "hello"), []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"a nonsensical content type", submit("a", "u3", "hello"), []string{"Content-Type", ";;;"}},
		{"bytes that are no UTF-8", "{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hello \xff\"}]}]}", nil},
		{"half a surrogate pair", `{"id":"a","messages":[{"role":"user","parts":[{"type":"text","text":"hello \ud83d"}]}]}`, nil},
		{"an id with everything in it", submit("../a/%2F?#&ü", "u", "hello"), nil},
		{"an id twice", `{"id":"x","id":"a","messages":[{"role":"user","parts":[{"type":"text","text":"hello"}]}]}`, nil},
		{"a message id that is no string", `{"id":"a","messages":[{"id":5,"role":"user","parts":[{"type":"text","text":"hello"}]}]}`, nil},
		{"numbers that are too large", `{"id":"a","n":1e999,"messages":[{"role":"user","parts":[{"type":"text","text":"hello"}],"metadata":{"n":1e999}}]}`, nil},
		{"__proto__", `{"id":"a","__proto__":{"a":1},"messages":[{"role":"user","parts":[{"type":"text","text":"hello"}],"metadata":{"__proto__":{"a":1}}}]}`, nil},
		{"a position from elsewhere", submit("a", "u9", "hello"), []string{"Last-Event-ID", "nonsense"}},
	} {
		if status, _, body := s.do("POST", "/api/chat", c.body, c.header...); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	for path, want := range map[string]int{
		"/api/chat/known/stream?turn=nope":                         204,
		"/api/chat/known/stream?turn=" + strings.Repeat("9", 5000): 204,
		"/api/chat/%2e%2e/stream":                                  204,
		"/api/chat/%ff/stream":                                     204,
		"/api/chat?x/%ff/stream":                                   204,
		"/api/sessions/..%2Fa%2F%252F%3F%23&%C3%BC":                200,
	} {
		if status, _, body := s.do("GET", path, ""); status != want {
			t.Errorf("%s: %d %s", cut(path), status, body)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions/known/trace", "", "Last-Event-ID", "nonsense"); status != 400 || !strings.Contains(body, "`Last-Event-ID` must be a whole number") {
		t.Errorf("%d %s", status, body)
	}
	for _, body := range []string{"", "null", "{}", " \n"} {
		if status, _, text := s.do("POST", "/api/chat/known/stop", body); status != 200 {
			t.Errorf("stop with %q: %d %s", body, status, text)
		}
	}
	if status, _, body := s.do("POST", "/api/chat/known/stop", `{"turn":"nope"}`); status != 200 || !strings.Contains(body, `"stopped":false`) {
		t.Errorf("stop of no turn: %d %s", status, body)
	}
}

// A request that was answered, or that belongs to a turn before, says so.
//
//evidence:for promise-one-answer
func TestStaleRequests(t *testing.T) {
	s := newStand(t, nil)
	done := make(chan string)
	go func() {
		_, _, body := s.do("POST", "/api/chat", submit("c1", "u1", "approve"))
		done <- body
	}()
	asked := ""
	for asked == "" {
		_, _, body := s.do("GET", "/api/sessions/c1/trace", "")
		if _, rest, ok := strings.Cut(body, `"request_id":"`); ok {
			asked, _, _ = strings.Cut(rest, `"`)
		}
	}
	path := "/api/sessions/c1/permissions/" + asked
	for body, want := range map[string]string{`{}`: "option", `{"option":"nonsense"}`: `There is no option "nonsense" in this request: choose one of`, `{"option":"allow","approved":false}`: "Send `approved` or `option`, not both."} {
		status, header, text := s.do("POST", path, body)
		if said := sentenceOf(t, body, path, header, text); status != 400 || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if status, _, body := s.do("POST", path, `{"approved":true}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	<-done
	status, header, body := s.do("POST", path, `{"approved":true}`)
	if said := sentenceOf(t, "again", path, header, body); status != 409 || !strings.Contains(said, "ada") {
		t.Errorf("a second answer: %d %s", status, body)
	}
	s.do("POST", "/api/chat", submit("c1", "u2", "hello"))
	status, header, body = s.do("POST", path, `{"approved":true}`)
	if said := sentenceOf(t, "stale", path, header, body); status != 404 || said != "There is no such request in this session." {
		t.Errorf("a stale request: %d %s", status, body)
	}
}
