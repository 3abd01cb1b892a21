package scriptedmodel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel/modeltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const tools = `"tools":[{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}}}},
	{"name":"Read","input_schema":{"properties":{"file_path":{"type":"string"}}}},
	{"name":"Write","input_schema":{"properties":{"file_path":{"type":"string"},"content":{"type":["string","null"]}}}}]`

func request(stream bool, messages string) string {
	s := "false"
	if stream {
		s = "true"
	}
	return `{"model":"m-1","stream":` + s + `,"messages":[` + messages + `],` + tools + `}`
}

func prompt(text string) string {
	raw, _ := json.Marshal(text)
	return `{"role":"user","content":` + string(raw) + `}`
}

func post(t *testing.T, base, path, body string) (int, string) {
	t.Helper()
	res, err := http.Post(base+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

const readDone = `,{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":"Read","input":{}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"the content"}]},{"type":"text","text":"<system-reminder>x</system-reminder>"}]}`

func TestMessagesGolden(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, messages string
		stream         bool
		status         int
	}{
		{"plain.sse", prompt("[[script:plain]]"), true, 200},
		{"plain.json", prompt("[[script:plain]]"), false, 200},
		{"think.sse", prompt("[[script:think]]"), true, 200},
		{"think.json", prompt("[[script:think]]"), false, 200},
		{"say.sse", prompt("[[script:say Grüße, 👩‍🚀!]]"), true, 200},
		{"both.sse", prompt("[[script:both /a.txt]]"), true, 200},
		{"both.json", prompt("[[script:both /a.txt]]"), false, 200},
		{"read-2.sse", prompt("[[script:read /a.txt]]") + readDone, true, 200},
		{"empty.sse", prompt("[[script:empty]]"), true, 200},
		{"error-event.sse", prompt("[[script:error-event]]"), true, 200},
		{"error-event.json", prompt("[[script:error-event]]"), false, 529},
		{"error-400.json", prompt("[[script:error 400]]"), true, 400},
		{"error-529.json", prompt("[[script:error 529]]"), true, 529},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.Start(t, scriptedmodel.Options{})
			status, got := post(t, m.URL, "/v1/messages?beta=true", request(tc.stream, tc.messages))
			if status != tc.status {
				t.Errorf("status %d; want %d", status, tc.status)
			}
			file := filepath.Join("testdata", tc.name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorOnce(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	var got []int
	for _, id := range []string{"a", "a", "b", "a", "b"} {
		status, _ := post(t, m.URL, "/v1/messages", request(true, prompt("[[script:error-once 529 "+id+"]]")))
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{529, 200, 529, 200, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestCutDropsTheConnectionAfterTheText(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	res, err := http.Post(m.URL+"/v1/messages", "application/json", strings.NewReader(request(true, prompt("[[script:error-cut]]"))))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil {
		t.Error("the answer ended in order; want a dropped connection")
	}
	if !bytes.Contains(raw, []byte("cut.")) || bytes.Contains(raw, []byte("message_stop")) {
		t.Errorf("the answer is not one that was cut after its text:\n%s", raw)
	}
}

func TestIdsAreUniqueInAServerAndTheSameInAnother(t *testing.T) {
	t.Parallel()
	run := func() (ids []string) {
		m := modeltest.Start(t, scriptedmodel.Options{})
		for range 3 {
			post(t, m.URL, "/v1/messages", request(true, prompt("[[script:both /a]]")))
		}
		post(t, m.URL, "/v1/messages", request(true, prompt("[[script:both /a]]")+readDone+","+prompt("[[script:both /a]]")))
		for _, r := range m.Requests() {
			ids = append(ids, r.Answer.ID, r.Answer.Calls[0].ID, r.Answer.Calls[1].ID)
		}
		return ids
	}
	first := run()
	if diff := cmp.Diff(first, run()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	seen := map[string]bool{}
	for _, id := range first {
		if seen[id] {
			t.Errorf("the id %s was given twice", id)
		}
		seen[id] = true
	}
}

func TestSideCalls(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	toolless := `{"model":"m","messages":[` + prompt("[[script:think]]") + `]}`
	for _, tc := range []struct {
		method, path, body string
		status             int
		contains           string
	}{
		{"POST", "/v1/messages/count_tokens", request(false, prompt("x")), 200, `"input_tokens":`},
		{"POST", "/v1/messages", toolless, 200, scriptedmodel.TitleText},
		{"POST", "/v1/messages", "{", 400, "not valid"},
		{"POST", "/v1/messages", `{"messages":[{"role":"user","content":7}]}`, 400, "not valid"},
		{"GET", "/v1/models", "", 200, `"scripted-1"`},
		{"GET", "/v1/models/abc", "", 200, `"id":"abc"`},
		{"GET", "/", "", 200, "scripted model"},
		{"HEAD", "/", "", 200, ""},
		{"HEAD", "/v1/messages", "", 200, ""},
		{"GET", "/api/hello", "", 404, "no route"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, m.URL+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tc.status || !strings.Contains(string(raw), tc.contains) {
			t.Errorf("%s %s: %d %s; want %d with %q", tc.method, tc.path, res.StatusCode, raw, tc.status, tc.contains)
		}
	}
	if n := len(m.Requests()); n != 10 {
		t.Errorf("%d requests were kept; want 10", n)
	}
}

func TestPlayWithoutTools(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{PlayWithoutTools: true})
	_, got := post(t, m.URL, "/v1/messages", `{"model":"m","messages":[`+prompt("[[script:think]]")+`]}`)
	if !strings.Contains(got, scriptedmodel.ThinkText) {
		t.Errorf("got %s; want the script played", got)
	}
}

// The model ends a slow answer when its client leaves: at the end of the test
// the server waits for its handlers, and the answer would take an hour.
func TestSlowAnswerEndsWithItsClient(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/v1/messages", strings.NewReader(request(true, prompt("[[script:slow 60000]]"))))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"One "`) {
	}
	cancel()
	if lines.Scan() && strings.Contains(lines.Text(), "message_stop") {
		t.Error("the answer came to its end")
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	thinks := func(r scriptedmodel.Request) bool { return r.Directive.Name == "think" }
	found := make(chan scriptedmodel.Request, 1)
	go func() {
		r, err := m.Await(t.Context(), thinks)
		if err != nil {
			t.Error(err)
		}
		found <- r
	}()
	post(t, m.URL, "/v1/messages", request(true, prompt("[[script:plain]]")))
	post(t, m.URL, "/v1/messages", request(true, prompt("[[script:think]]")))
	if r := <-found; r.Seq != 2 || r.Kind != "answer" || r.Answer.Text != scriptedmodel.ThinkText {
		t.Errorf("got %+v; want the second request", r)
	}
	if r, err := m.Await(t.Context(), thinks); err != nil || r.Seq != 2 {
		t.Errorf("a past request: got %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := m.Await(ctx, func(scriptedmodel.Request) bool { return false }); err == nil {
		t.Error("a request that never comes was found")
	}
}

func TestListenRefusesOtherAddressesThanLoopback(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:80", "nonsense"} {
		if l, err := scriptedmodel.Listen(addr); err == nil {
			l.Close()
			t.Errorf("%s was accepted", addr)
		}
	}
	l, err := scriptedmodel.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(request(true, prompt("[[script:read /a]]")+readDone)))
	f.Add([]byte(request(false, prompt("[[script:call X {}]]"))))
	f.Add([]byte(`{"messages":[null],"tools":[null]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":null}],"tools":[{}]}`))
	model := scriptedmodel.New(scriptedmodel.Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(body, []byte("slow")) || bytes.Contains(body, []byte("error-cut")) || bytes.Contains(body, []byte("big")) {
			t.Skip("takes its time, panics on purpose, or is large")
		}
		w := httptest.NewRecorder()
		model.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(body)))
		if !json.Valid(body) && w.Code != http.StatusBadRequest {
			t.Errorf("a body that is no JSON was answered with %d", w.Code)
		}
	})
}
