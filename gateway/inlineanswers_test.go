package gateway_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// paused is a turn that waits, as its client has it.
type paused struct {
	stand
	session, message string
	body             string
}

// pause prompts in a new session and reads the response to where it pauses.
func (s stand) pause(session, words, query string) paused {
	s.t.Helper()
	status, _, body := s.do("POST", "/api/chat"+query, submit(session, "u1", words))
	p := paused{s, session, find(body, `"messageId":"([^"]+)"`), body}
	if status != 200 || p.message == "" || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		s.t.Fatalf("%s: %d\n%s", words, status, body)
	}
	return p
}

func find(in, pattern string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(in); m != nil {
		return m[1]
	}
	return ""
}

// request is the id of what is asked, call that of the call it is shown at.
func (p paused) request() string { return find(p.body, `"approvalId":"([^"]+)"`) }

// hidden waits for a request that the client has not been shown, and returns its id. The
// client is shown such a request when those before it are answered.
func (p paused) hidden() string {
	p.t.Helper()
	for range 500 {
		_, _, trace := p.do("GET", "/api/sessions/"+p.session+"/trace", "")
		for line := range strings.Lines(trace) {
			id := find(line, `"request_id":"([^"]+)"`)
			if strings.Contains(line, `"type":"permission_request"`) && !strings.Contains(p.body, id) {
				return id
			}
		}
		time.Sleep(10 * time.Millisecond) // the first request has ended the stream, and the second is on its way
	}
	p.t.Fatalf("all that was asked is shown: %s", p.body)
	return ""
}

func (p paused) call(tool string) string {
	return find(p.body, `"tool-input-available","toolCallId":"([^"]+)","toolName":"`+tool+`"`)
}

// post sends a message with these parts, as the stock client does when it answers.
func (p paused) post(parts string, header ...string) (status int, head http.Header, body string) {
	p.t.Helper()
	return p.do("POST", "/api/chat", `{"id":"`+p.session+`","trigger":"submit-message","messageId":"`+p.message+`","messages":[
		{"id":"u1","role":"user","parts":[{"type":"text","text":"x"}]},
		{"id":"`+p.message+`","role":"assistant","parts":[{"type":"step-start"},`+parts+`]}]}`, header...)
}

func (p paused) responded(id string, approved bool, more string) string {
	yes, _ := json.Marshal(approved)
	return `{"type":"dynamic-tool","toolName":"shell","toolCallId":"` + p.call("shell") + `","state":"approval-responded","input":{},"providerExecuted":true,"approval":{"id":"` + id + `","approved":` + string(yes) + more + `}}`
}

// answers are the permission responses and answers on record.
func (p paused) answers() (all []string) {
	p.t.Helper()
	_, _, body := p.do("GET", "/api/sessions/"+p.session+"/trace", "")
	for line := range strings.Lines(body) {
		if strings.Contains(line, `"type":"permission_response"`) || strings.Contains(line, `"type":"answer"`) {
			all = append(all, line)
		}
	}
	return all
}

// Every form in which a client can send its answer, and what goes with it.
func TestAnswersOfEveryForm(t *testing.T) {
	for _, c := range []struct {
		name, words, query string
		parts              func(p paused) string
		record             []string // what the one answer on record holds
		says               string
	}{
		{"approved", "approve", "", func(p paused) string { return p.responded(p.request(), true, "") }, []string{`"chosen_option":"allow"`, `"by":"ada"`}, "allowed to run it: echo hello"},
		{"denied, with a reason", "approve", "", func(p paused) string { return p.responded(p.request(), false, `,"reason":"no time"`) }, []string{`"chosen_option":"deny"`, `"reason":"no time"`}, "no time"},
		{"a static part", "approve", "", func(p paused) string {
			return strings.Replace(p.responded(p.request(), true, ""), `"dynamic-tool","toolName":"shell"`, `"tool-shell"`, 1)
		}, []string{`"chosen_option":"allow"`}, "echo hello"},
		{"a yes", "approve", "?client=5", output("AskPermission", `true`), []string{`"chosen_option":"allow"`}, "echo hello"},
		{"a no", "approve", "?client=5", output("AskPermission", `false`), []string{`"chosen_option":"deny"`}, "it was denied"},
		{"an option's id", "approve", "?client=5", output("AskPermission", `"always"`), []string{`"chosen_option":"always"`}, "always allowed"},
		{"an option's name", "approve", "?client=5", output("AskPermission", `"Always allow"`), []string{`"chosen_option":"always"`}, "always allowed"},
		{"a word", "approve", "?client=5", output("AskPermission", `"no"`), []string{`"chosen_option":"deny"`}, "it was denied"},
		{"an object", "approve", "?client=5", output("AskPermission", `{"approved":true,"updated_input":{"command":"echo bye"}}`), []string{`"updated_input":{"command":"echo bye"}`}, "echo bye"},
		{"an object that interrupts", "approve", "?client=5", output("AskPermission", `{"option":"deny","reason":"stop","interrupt":true}`), []string{`"interrupt":true`, `"reason":"stop"`}, "abort"},
		{"an error", "approve", "?client=5", declined("AskPermission"), []string{`"chosen_option":"deny"`}, "it was denied"},
		{"nonsense is a no", "approve", "?client=5", output("AskPermission", `17`), []string{`"chosen_option":"deny"`}, "it was denied"},
		{"a choice", "ask", "", output("AskUser", `"blue"`), []string{`"values":["blue"]`, `"by":"ada"`}, "You chose blue."},
		{"a list of one", "ask", "", output("AskUser", `["blue"]`), []string{`"values":["blue"]`}, "You chose blue."},
		{"an object as an answer", "ask", "", output("AskUser", `{"a":1}`), []string{`{\"a\":1}`}, `{\"a\":1}`},
		{"declined", "ask", "", declined("AskUser"), []string{`"outcome":"canceled"`}, "Nobody answered"},
	} {
		s := newStand(t, nil)
		p := s.pause("c1", c.words, c.query)
		status, _, body := p.post(c.parts(p))
		if status != 200 || find(body, `"messageId":"([^"]+)"`) != p.message || !strings.Contains(strings.ReplaceAll(said(body), `"`, `\"`), c.says) && !strings.Contains(body, c.says) {
			t.Errorf("%s: %d\n%s", c.name, status, body)
		}
		on := p.answers()
		if len(on) != 1 {
			t.Fatalf("%s: on record are %v", c.name, on)
		}
		for _, want := range c.record {
			if !strings.Contains(on[0], want) {
				t.Errorf("%s: no %s on record: %s", c.name, want, on[0])
			}
		}
	}
}

// output is the part of a client tool with its output.
func output(tool, value string) func(p paused) string {
	return func(p paused) string {
		return `{"type":"tool-` + tool + `","toolCallId":"` + p.call(tool) + `","state":"output-available","input":{},"output":` + value + `}`
	}
}

// declined is the part of a client tool that the user would not answer.
func declined(tool string) func(p paused) string {
	return func(p paused) string {
		return strings.Replace(output(tool, "null")(p), "output-available", "output-error", 1)
	}
}

// said is the text of a response.
func said(body string) string {
	var all strings.Builder
	for line := range strings.Lines(body) {
		data, _ := strings.CutPrefix(line, "data: ")
		var chunk struct{ Type, Delta string }
		if json.Unmarshal([]byte(data), &chunk) == nil && chunk.Type == "text-delta" {
			all.WriteString(chunk.Delta)
		}
	}
	return all.String()
}

// The option, the edited input and the end of the turn go with the answer in the
// body of the POST.
func TestWhatGoesWithAnAnswer(t *testing.T) {
	s := newStand(t, nil)
	for more, want := range map[string]string{
		`"option":"always"`:                         `"option_kind":"allow_always"`,
		`"updated_input":{"command":"echo bye"}`:    `"updated_input":{"command":"echo bye"}`,
		`"interrupt":true`:                          `"interrupt":true`,
		`"option":null,"updated_input":null`:        `"chosen_option":"allow"`,
		`"option":"deny"`:                           "", // and approved: they contradict each other
		`"option":"no such option"`:                 "",
		`"updated_input":{"command":"echo \ud800"}`: `"updated_input"`,
	} {
		p := s.pause("c"+strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, more), "approve", "")
		body := `{"id":"` + p.session + `","trigger":"submit-message",` + more + `,"messages":[{"id":"` + p.message + `","role":"assistant","parts":[` + p.responded(p.request(), true, "") + `]}]}`
		status, header, text := p.do("POST", "/api/chat", body)
		on := p.answers()
		if want == "" {
			if status != 400 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") || len(on) > 0 {
				t.Errorf("%s: %d %s %v", more, status, text, on)
			}
			continue
		}
		if status != 200 || len(on) != 1 || !strings.Contains(on[0], want) {
			t.Errorf("%s: %d, on record are %v", more, status, on)
		}
	}
}

// Nothing is answered that was not asked of the sender, in that message, and shown.
func TestForgedAnswers(t *testing.T) {
	s := newStand(t, nil)
	other := s.pause("other", "approve", "")
	p := s.pause("c1", "both", "")
	hidden := p.hidden()
	for _, c := range []struct {
		name   string
		parts  string
		header []string
		status int
	}{
		{"no answer", `{"type":"text","text":"yes"}`, nil, 409},
		{"the agent's own call", `{"type":"dynamic-tool","toolName":"shell","toolCallId":"call_1_2","state":"output-available","output":"x"}`, nil, 409},
		{"what was never asked", p.responded("forged", true, ""), nil, 409},
		{"what is not shown yet", p.responded(hidden, true, ""), nil, 409},
		{"no approval", strings.Replace(p.responded(p.request(), true, ""), `"approved":true`, `"approved":"yes"`, 1), nil, 409},
		{"as an output of a tool of ours", `{"type":"tool-AskPermission","toolCallId":"permission-` + hidden + `","state":"output-available","output":true}`, nil, 200},
		{"as an answer to a question", `{"type":"tool-AskUser","toolCallId":"` + p.request() + `","state":"output-available","output":"yes"}`, nil, 200},
		{"without the role", p.responded(p.request(), true, ""), []string{"X-Test-Role", "collaborator"}, 403},
		{"without any role to write", p.responded(p.request(), true, ""), []string{"X-Test-Role", "viewer"}, 403},
	} {
		status, header, body := p.post(c.parts, c.header...)
		if refused := `{"type":"error","errorText":"This message is not waiting for an answer: send a new message instead."}`; c.status == 200 && (!strings.Contains(body, refused) || !strings.Contains(body, `"type":"start-step"`)) {
			t.Errorf("%s: an output of a tool is refused in the stream, got %s", c.name, body)
		}
		if status != c.status || status != 200 && (!strings.HasPrefix(header.Get("Content-Type"), "text/plain") || strings.Count(strings.TrimSpace(body), "\n") > 0 || len(body) < 20) {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		if on := p.answers(); len(on) > 0 {
			t.Fatalf("%s was taken for an answer: %v", c.name, on)
		}
	}
	foreign := paused{s, p.session, other.message, other.body}
	if status, _, body := foreign.post(other.responded(other.request(), true, "")); status != 409 {
		t.Errorf("another session's message: %d %s", status, body)
	}
	if on := append(p.answers(), other.answers()...); len(on) > 0 {
		t.Errorf("on record are %v", on)
	}
}

// A stale answer gets the rest of the message, as often as it comes. If there is no
// rest, the client gets an error, because an empty response would make it ask for
// ever.
func TestStaleAnswers(t *testing.T) {
	s := newStand(t, nil)
	p := s.pause("c1", "approve", "")
	_, _, first := p.post(p.responded(p.request(), true, ""))
	for _, approved := range []bool{true, false} {
		status, _, again := p.post(p.responded(p.request(), approved, ""))
		if status != 200 || !strings.Contains(again, "tool-output-available") || said(again) != said(first) {
			t.Errorf("again, approved %v: %d\n%s", approved, status, again)
		}
		if asked := strings.Contains(again, "tool-approval-request"); asked == approved {
			t.Errorf("again, approved %v: asked again %v", approved, asked)
		}
	}
	if _, _, body := s.do("POST", "/api/chat", submit("c1", "u2", "hello")); !strings.Contains(said(body), "Hello") {
		t.Error(body)
	}
	if status, _, again := p.post(p.responded(p.request(), true, "")); status != 200 || said(again) != said(first) {
		t.Errorf("of an older message: %d\n%s", status, again)
	}
	if on := p.answers(); len(on) != 1 {
		t.Errorf("on record are %v", on)
	}
	s.do("POST", "/api/chat", `{"id":"c1","trigger":"regenerate-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hello"}]}]}`)
	if status, _, body := p.post(p.responded(p.request(), true, "")); status != 409 {
		t.Errorf("of a message that was taken back: %d %s", status, body)
	}
}

// Of two that are asked at once one answer alone changes nothing for the client, and
// counts.
func TestAnAnswerToOneOfTwo(t *testing.T) {
	s := newStand(t, nil)
	p := s.pause("c1", "several", "")
	ids := regexp.MustCompile(`"toolCallId":"(question_[^"]+)"`).FindAllStringSubmatch(p.body, -1)
	if len(ids) != 3 {
		t.Fatal(p.body)
	}
	part := func(i int, value string) string {
		return `{"type":"tool-AskUser","toolCallId":"` + ids[i][1] + `","state":"output-available","input":{},"output":` + value + `}`
	}
	if status, _, body := p.post(part(0, `"red"`)); status != 200 || strings.Contains(body, "text-delta") || !strings.Contains(body, p.message) {
		t.Errorf("one of three: %d\n%s", status, body)
	}
	if on := p.answers(); len(on) != 1 {
		t.Errorf("on record are %v", on)
	}
	status, _, body := p.post(part(0, `"blue"`) + "," + part(1, `["eel"]`) + "," + part(2, `"Rhine"`))
	if status != 200 || said(body) != "You said: red; eel; Rhine." {
		t.Errorf("all: %d\n%s", status, body)
	}
}

// An answer to one message does not answer the requests of a message below it.
//
//evidence:for promise-one-answer
func TestAnAnswerIsForTheMessageThatAsks(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	p := s.pause("c1", "both", "")
	_, _, below := s.do("POST", "/api/chat", submit("c1", "u2", "yes"))
	second := find(below, `"approvalId":"([^"]+)"`)
	before := len(p.answers())
	if status, _, body := p.post(p.responded(second, true, "")); second == "" || status != http.StatusConflict || len(p.answers()) > before { // it names the first message
		t.Errorf("%d: %s", status, body)
	}
}
