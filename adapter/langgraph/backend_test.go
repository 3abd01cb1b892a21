package langgraph_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// asked is a request that a backend got.
type asked struct{ method, query, header, body string }

// backend publishes a recording, whose name is the prompt: JSON lines, or server-sent events.
func backend(t *testing.T, options string) (*stage, *[]asked) {
	t.Helper()
	var mu sync.Mutex
	var all []asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/chat" { // a client of another test's server, which had this port before
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, asked{r.Method, r.URL.RawQuery, r.Header.Get("X-Team") + r.Header.Get("Authorization"), string(body)})
		mu.Unlock()
		var f struct{ Message, Name, Answer string }
		_ = json.Unmarshal(body, &f)
		name := f.Message + f.Name + r.URL.Query().Get("message")
		switch {
		case f.Answer != "":
			name = "approval-2.v2.jsonl"
		case name == "slow":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"event\":\"on_chat_model_stream\",\"run_id\":\"r\",\"data\":{\"chunk\":{\"type\":\"AIMessageChunk\",\"content\":\"So far\"}}}\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		case name == "page":
			w.Header().Set("Content-Type", "text/html")
			return
		case name == "foreign":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"reply":"Hello."}`))
			return
		}
		kind := "application/x-ndjson"
		if strings.HasSuffix(name, ".sse") {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(recorded(t, name))
	}))
	t.Cleanup(srv.Close)
	rt, err := langgraph.BackendAdapter().New(agent.Settings{URL: srv.URL + "/chat?team=a", Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, host: agenttest.NewHost()}
	session, err := rt.Open(t.Context(), s.host, agent.Config{SessionID: "session-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	s.session = session
	return s, &all
}

func TestABackendSaysWhatItsRecordingSays(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"weather.v2.jsonl", "weather.v2dict.jsonl", "weather.enc-stream.sse", "weather.enc-v2.sse", "parallel.v2.jsonl", "failtool.v2.jsonl", "failmodel.v2.jsonl",
		"duo-participant.v2.sse", "nested.v2.jsonl", "canned.v2.jsonl", "thinking.v2dict.jsonl", "weather.stream.jsonl",
	} {
		s, _ := backend(t, `{}`)
		want := outline(play(t, name, langgraph.Options{}).Records)
		if got := s.says(name); !slices.Equal(got, want) {
			t.Errorf("%s says\n%q\nand should say\n%q", name, got, want)
		}
	}
}

func TestTheRequestOfABackendFollowsItsTemplate(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]asked{
		`{}`: {"POST", "team=a", "", `{"message":"hello.v2.jsonl","messages":[{"content":"hello.v2.jsonl","role":"user"}],"thread_id":"session-1"}`},
		`{"body":{"name":"{{prompt}}","n":1,"id":"tributary/{{session}}","all":"{{messages}}","one":["{{message}}"]},"headers":{"X-Team":"a"}}`: {
			"POST", "team=a", "a", `{"all":[{"content":"hello.v2.jsonl","role":"user"}],"id":"tributary/session-1","n":1,"name":"hello.v2.jsonl","one":["hello.v2.jsonl"]}`,
		},
		`{"method":"GET","body":{"message":"{{prompt}}","n":1}}`: {"GET", "message=hello.v2.jsonl&n=1&team=a", "", ""},
		`{"pass_token":true,"body":{"name":"{{prompt}}"}}`:       {"POST", "team=a", "Bearer anns-token", `{"name":"hello.v2.jsonl"}`},
	} {
		s, all := backend(t, options)
		if got := s.says("hello.v2.jsonl"); !slices.Equal(got, []string{"Hello there, how are you?", "completed stop"}) {
			t.Errorf("%s: %q", options, got)
		}
		if len(*all) != 1 || (*all)[0] != want {
			t.Errorf("%s: the backend got %q", options, *all)
		}
	}
}

func TestAPromptIsNoTemplate(t *testing.T) {
	t.Parallel()
	s, all := backend(t, `{"body":{"name":"hello.v2.jsonl","n":"Answer in English: {{prompt}} ({{session}})"}}`)
	const want = `{"n":"Answer in English: What does {{session}} mean, and {{prompt}}? (session-1)","name":"hello.v2.jsonl"}`
	for n := range 20 { // a map has another order each time
		s.says("What does {{session}} mean, and {{prompt}}?")
		if got := (*all)[n].body; got != want {
			t.Fatalf("the backend got\n%s and not\n%s", got, want)
		}
	}
}

func TestABackendThatTakesAnswersGoesOn(t *testing.T) {
	t.Parallel()
	s, all := backend(t, `{"resume":{"answer":"yes","value":"{{answer}}"}}`)
	s.host.OnPermit = approve(trace.AllowOnce, "")
	want := []string{"I will e-mail. ", `send_email{"to":"a@example.test","body":"hi"}`, "approve call_m1?", `completed:"sent to a@example.test: hi"`, "All done.", "completed stop"}
	if got := s.says("approval-1.v2.jsonl"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := (*all)[1].body; got != `{"answer":"yes","value":{"decisions":[{"type":"approve"}]}}` {
		t.Error(got)
	}
	s, _ = backend(t, `{}`)
	events := s.end(s.begin(t.Context(), "approval-1.v2.jsonl"))
	if got := agenttest.Each[trace.PermissionRequest](events); len(got) > 0 {
		t.Errorf("a backend that takes no answers asked for %v", got)
	}
	if !slices.ContainsFunc(agenttest.Each[trace.Data](events), func(d trace.Data) bool { return d.Name == "interrupt" }) {
		t.Error("nothing says that the graph was interrupted")
	}
}

func TestABackendIsStoppedByTheEndOfItsStream(t *testing.T) {
	t.Parallel()
	s, _ := backend(t, `{}`)
	ctx, stop := context.WithCancel(t.Context())
	r, done := s.begin(ctx, "slow")
	s.speaking(r)
	stop()
	if got := lines(s.end(r, done)); !slices.Equal(got, []string{"So far", "canceled stopped"}) {
		t.Errorf("%q", got)
	}
}

func TestABackendThatSaysNothing(t *testing.T) {
	t.Parallel()
	s, _ := backend(t, `{"silence":"200ms"}`)
	begun := time.Now()
	got := s.says("slow")
	if want := []string{"So far", "failed agent_lost The backend did not go on: the server sent nothing for 200ms"}; !slices.Equal(got, want) || time.Since(begun) > 5*time.Second {
		t.Errorf("%q after %v", got, time.Since(begun))
	}
	s, _ = backend(t, `{}`)
	if got := s.says("foreign"); !slices.Equal(got, []string{`failed agent_lost The backend does not speak a form of LangGraph's events: the stream begins with "{\"reply\":\"Hello.\"}"`}) {
		t.Errorf("%q", got)
	}
	if got := s.says("page"); !strings.Contains(got[0], "the answer is text/html and no stream of events") {
		t.Errorf("%q", got)
	}
}

func TestSettingsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		adapter agent.Adapter
		s       agent.Settings
		want    string
	}{
		{langgraph.Adapter(), agent.Settings{URL: "http://x"}, "options.assistant is missing: write the name of a graph of the server, as in its langgraph.json"},
		{langgraph.Adapter(), agent.Settings{URL: "x", Options: json.RawMessage(`{"assistant":"a"}`)}, `url is wrong: "x" is no address of a server: write one such as http://127.0.0.1:4096`},
		{langgraph.Adapter(), agent.Settings{URL: "http://x", TokenEnv: "NOT_SET_ANYWHERE", Options: json.RawMessage(`{"assistant":"a"}`)}, "token_env names NOT_SET_ANYWHERE, and there is no such environment variable: set it"},
		{langgraph.Adapter(), agent.Settings{URL: "http://x", Options: json.RawMessage(`{"assistant":"a","subgraphs":"no"}`)}, `options.subgraphs is "no": write flat, data or hide`},
		{langgraph.Adapter(), agent.Settings{URL: "http://x", Options: json.RawMessage(`{"assitant":"a"}`)}, `options have the key "assitant", which the adapter does not know: the keys are show, hide, participants`},
		{langgraph.BackendAdapter(), agent.Settings{URL: "ftp://x"}, `url is wrong: "ftp://x" is no address of a server: write one such as http://127.0.0.1:4096`},
		{langgraph.BackendAdapter(), agent.Settings{URL: "http://x", Options: json.RawMessage(`{"silence":"long"}`)}, `options cannot be read: "long" is no duration: write 500ms, 5s or 2m`},
	} {
		if _, err := c.adapter.New(c.s); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, and should be %s", err, c.want)
		}
	}
}
