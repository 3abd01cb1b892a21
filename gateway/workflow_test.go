package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/session"
)

// words are the words that a POST of the workflow transport sends: it has neither an id nor a
// trigger, and no content type but that of a text.
func words(id, text string) string {
	return `{"messages":[{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}]}`
}

var idOf = regexp.MustCompile(`"messageId":"([^"]+)"`)

var asText = []string{"Content-Type", "text/plain;charset=UTF-8"}

// datas are the chunks of a stream, as JSON.
func datas(body string) (all []string) {
	for line := range strings.Lines(body) {
		if data, is := strings.CutPrefix(line, "data: {"); is {
			all = append(all, "{"+strings.TrimSpace(data))
		}
	}
	return all
}

// text is what a sequence of chunks says.
func textOf(chunks []string) string {
	var all strings.Builder
	for _, c := range chunks {
		var chunk struct{ Type, Delta string }
		if json.Unmarshal([]byte(c), &chunk) == nil && chunk.Type == "text-delta" {
			all.WriteString(chunk.Delta)
		}
	}
	return all.String()
}

func last(chunks []string) string {
	if len(chunks) == 0 {
		return ""
	}
	return chunks[len(chunks)-1]
}

// cut sends a request, reads some chunks of the answer, and closes the connection.
func (s stand) cut(method, path, body string, chunks int, header ...string) (run string, got []string) {
	s.t.Helper()
	request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", method, path, len(body))
	for i := 0; i+1 < len(header); i += 2 {
		request += header[i] + ": " + header[i+1] + "\r\n"
	}
	conn, in := s.dial(request + "\r\n" + body)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %v %v", method, path, res, err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for len(got) < chunks && lines.Scan() {
		got = append(got, datas(lines.Text())...)
	}
	_ = conn.Close()
	return res.Header.Get("X-Workflow-Run-Id"), got
}

func (s stand) from(session, run string, n int) (int, http.Header, []string, string) {
	s.t.Helper()
	status, header, body := s.do("GET", fmt.Sprintf("/api/sessions/%s/chat/%s/stream?startIndex=%d", session, run, n), "")
	return status, header, datas(body), body
}

// The chunks of a response and those of the requests for its rest are one sequence.
func TestTheRestOfAResponseByTheNumberOfItsChunks(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(o *session.Options) {
		a := o.Agents["demo"]
		a.Runtime = demo.Runtime{Pace: time.Millisecond} // half a second in all
		o.Agents["demo"], o.GracePeriod = a, time.Minute
	})
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	run, got := s.cut("POST", "/api/sessions/s/chat", words("u1", "slow"), 10, asText...)
	if !strings.HasPrefix(run, "run_") {
		t.Fatalf("the run is %q", run)
	}
	for range 3 {
		again, more := s.cut("GET", fmt.Sprintf("/api/sessions/s/chat/%s/stream?startIndex=%d", run, len(got)), "", 7)
		if again != run {
			t.Errorf("the rest is of run %q", again)
		}
		got = append(got, more...)
	}
	status, _, rest, _ := s.from("s", run, len(got))
	got = append(got, rest...)
	_, _, history := s.do("GET", "/api/sessions/s/messages", "")
	said, _ := json.Marshal(textOf(got))
	if status != http.StatusOK || !strings.Contains(history, string(said)) || len(said) < 100 {
		t.Errorf("%d, the chunks say %s\nthe history is %s", status, said, history)
	}
	if !strings.Contains(got[0], `"start"`) || !strings.Contains(last(got), `"finish"`) {
		t.Errorf("the first and the last chunk are %s and %s", got[0], last(got))
	}
	for n := range got { // the turn is over, and the response is kept
		if _, _, rest, body := s.from("s", run, n); strings.Join(rest, "\n") != strings.Join(got[n:], "\n") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Fatalf("from %d:\n%s\nwant\n%s", n, strings.Join(rest, "\n"), strings.Join(got[n:], "\n"))
		}
	}
	if _, _, rest, _ := s.from("s", run, len(got)); len(rest) != 1 || rest[0] != `{"type":"finish"}` {
		t.Errorf("behind the last chunk stands %v", rest)
	}
}

func TestTheRestOfAnAnsweredMessage(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	_, _, asked := s.do("POST", "/api/sessions/s/chat", words("u1", "approve"), asText...)
	found := approvalID.FindStringSubmatch(asked)
	message := idOf.FindStringSubmatch(asked)
	if found == nil || message == nil || !strings.Contains(last(datas(asked)), `"finish"`) {
		t.Fatalf("the answer is %s", asked)
	}
	answer := `{"messages":[{"id":"` + message[1] + `","role":"assistant","parts":[{"type":"tool-shell","toolCallId":"c","state":"approval-responded","input":{},` +
		`"approval":{"id":"` + found[1] + `","approved":true}}]}]}`
	run, got := s.cut("POST", "/api/sessions/s/chat", answer, 2, asText...)
	if !strings.HasPrefix(run, "rest_") {
		t.Errorf("the run is %q", run)
	}
	_, _, rest, _ := s.from("s", run, len(got))
	if got = append(got, rest...); !strings.Contains(strings.Join(got, " "), "tool-output-available") || !strings.Contains(last(got), `"finish"`) || strings.Contains(strings.Join(rest, " "), `"start"`) {
		t.Errorf("the rest is %v", got)
	}
	if status, header, _, body := s.from("s", "rest_unknown", 0); status != http.StatusGone || header.Get("X-Tributary-Code") != "run_lost" {
		t.Errorf("the rest of a message that is not known: %d %s", status, body)
	}
}

func TestAResumeWithANumberIsNever204(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	for _, session := range []string{"s", "none"} {
		for _, n := range []int{0, -5} {
			if status, _, got, body := s.from(session, session, n); status != http.StatusOK || len(got) != 1 || got[0] != `{"type":"finish"}` || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Errorf("%s from %d: %d %s", session, n, status, body)
			}
		}
	}
	if status, _, _ := s.do("GET", "/api/sessions/s/chat/s/stream", ""); status != http.StatusNoContent {
		t.Errorf("without a number: %d", status)
	}
	if status, _, body := s.do("GET", "/api/sessions/s/chat/s/stream?startIndex=two", ""); status != http.StatusBadRequest {
		t.Errorf("with a word: %d %s", status, body)
	}
	s.do("POST", "/api/sessions/s/chat", words("u1", "hello"), asText...)
	status, header, whole, _ := s.from("s", "s", -5)
	if status != http.StatusOK || header.Get("X-Workflow-Run-Id") != "s" || header.Get("X-Workflow-Stream-Tail-Index") != "4" || !strings.Contains(whole[0], `"start"`) || !strings.Contains(last(whole), `"finish"`) {
		t.Errorf("the newest five: %d %v %v", status, header, whole)
	}
}

// A gateway that has lost the run does not guess.
func TestARunThatIsLost(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	run, _ := s.cut("POST", "/api/sessions/s/chat", words("u1", "hello"), 2, asText...)
	for _, name := range []string{"run_other", "s", "x"} {
		if status, header, _, body := s.from("s", name, 2); status != http.StatusGone || header.Get("X-Tributary-Code") != "run_lost" || !strings.Contains(body, "from its start") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, _, _, _ := s.from("s", run, 1000); status != http.StatusGone {
		t.Errorf("a number that the run has not reached: %d", status)
	}
	if status, _, body := s.do("GET", "/api/sessions/s/chat/"+run+"/stream?startIndex=2", "", "X-Test-Principal", "eve"); status != http.StatusGone {
		t.Errorf("another caller: %d %s", status, body)
	}
	if status, _, got, _ := s.from("s", "run_kept-by-the-page", 0); status != http.StatusOK || !strings.Contains(got[0], `"start"`) {
		t.Errorf("from its start, by a name that the page kept: %d %v", status, got)
	}
}

// The default client at the same address gets the same stream, and the profile that it names.
func TestTheProfileOfTheWorkflowTransport(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	for i, c := range []struct {
		query string
		kind  string
		title bool // of the call, which 7 knows
	}{
		{"", "text/plain;charset=UTF-8", true}, {"", "application/json", false}, {"?client=6", "text/plain", false}, {"?client=7", "application/json", true},
	} {
		status, header, body := s.do("POST", "/api/sessions/s/chat"+c.query, words(fmt.Sprint("u", i), "tool"), "Content-Type", c.kind)
		if status != http.StatusOK || strings.Contains(body, `"title"`) != c.title || header.Get("X-Workflow-Run-Id") == "" {
			t.Errorf("%+v: %d %v\n%s", c, status, header, body)
		}
	}
}
