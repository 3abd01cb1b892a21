package langgraph_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// app is a backend of a user's own: FastAPI and sse-starlette publish astream_events.
var app = server{"python", []string{"app.py", "graphs.py"}, "venv", []string{"venv/bin/python", "app.py", "--port"}} //nolint:gochecknoglobals // never written

// talks opens a session with a backend.
func talks(t *testing.T, session string, s agent.Settings) *stage {
	t.Helper()
	rt, err := langgraph.BackendAdapter().New(s)
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{T: t, host: agenttest.NewHost(), rt: rt}
	st.host.OnPermit = approve(trace.AllowOnce, "")
	st.open(agent.Config{SessionID: session, Cwd: t.TempDir()})
	return st
}

// said is what the graphs of the app say.
var said = map[string]map[string][]string{ //nolint:gochecknoglobals // never written
	"agent": {
		"hello":    {"You said: hello", "completed stop"},
		"weather":  {"Let me look. ", `get_weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, "It is 21 degrees.", "completed stop"},
		"parallel": {`get_weather{"city":"Paris"}`, `wait_a_bit{"ms":30}`, `completed:{"city":"Paris","degrees":21}`, `completed:"waited 30"`, "Both are done.", "completed stop"},
		"think":    {"(I should think. )", "So I answer.", "completed stop"},
		"cut":      {`get_weather{"city":"Par"}`, `completed:{"city":"Par","degrees":21}`, "It was cut.", "completed stop"},
		"big":      {"data: x\n\nevent: fake\n\u2028 日本語 😀 " + strings.Repeat("x", 250_000), "completed stop"},
	},
	"duo":    {"go": {"alice: Shall we plan the trip?", "bob: Paris it is.", "alice: I book the train.", "bob: I book the hotel."}},
	"atonce": {"go": {"alice: I talk while you talk too.", "bob: And I do not wait for you."}},
	"nested": {"weather": {"Let me look. ", `get_weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, "It is 21 degrees.", "Here is the report.", "completed stop"}},
}

func TestAnAppThatPublishesTheEventsOfItsGraph(t *testing.T) {
	t.Parallel()
	url := app.start(t)
	settings := func(graph string) agent.Settings {
		return agent.Settings{URL: url + "/chat/" + graph, Options: json.RawMessage(`{
			"body": {"message": "{{prompt}}", "thread_id": "{{session}}"}, "resume": {"resume": "{{answer}}", "thread_id": "{{session}}"}}`)}
	}
	for graph, prompts := range said {
		for prompt, want := range prompts {
			s := talks(t, graph+prompt, settings(graph))
			events := s.end(s.begin(t.Context(), prompt))
			check(t, graph+" "+prompt, events, want)
			if got := agenttest.Each[trace.Data](events); !slices.ContainsFunc(got, func(d trace.Data) bool {
				return d.Name == "conversation-event" && strings.Contains(string(d.Value), "app_started")
			}) {
				t.Errorf("%s %s: the app's own event is missing: %v", graph, prompt, got)
			}
		}
	}
	t.Run("a model that fails", func(t *testing.T) {
		if got := talks(t, "fails", settings("agent")).says("fail"); !slices.Equal(got, []string{"I start, but ", "failed failed the model exploded"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("an approval", func(t *testing.T) {
		want := []string{"I will write. ", `send_mail{"to":"ann@example.test"}`, "approve call_m?", `completed:"sent to ann@example.test"`, "That was it.", "completed stop"}
		if got := talks(t, "asks", settings("approval")).says("mail"); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
	t.Run("a conversation", func(t *testing.T) {
		s := talks(t, "remembers", settings("agent"))
		s.says("one")
		if got := s.says("two"); got[0] != "You said: one / two" {
			t.Errorf("%q", got)
		}
	})
}

// check compares the speeches of several speakers, or what a turn says.
func check(t *testing.T, name string, events []trace.Event, want []string) {
	t.Helper()
	got := lines(events)
	if strings.HasPrefix(want[0], "alice") {
		got = speeches(events)
	}
	if strings.HasPrefix(name, "atonce") || strings.HasPrefix(name, "agent parallel") {
		got, want = sorted(got), sorted(slices.Clone(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s says\n%q\nand should say\n%q", name, short(got), short(want))
	}
}

func TestAProgramThatPrintsTheEventsOfItsGraph(t *testing.T) {
	home := app.installedAt(t)
	for graph, prompts := range map[string][]string{"agent": {"weather", "think", "cut"}, "duo": {"go"}, "nested": {"weather"}} {
		for _, prompt := range prompts {
			s := talks(t, "session-1", agent.Settings{
				Command: filepath.Join(home, "venv/bin/python"), Args: []string{filepath.Join(home, "app.py"), graph, "{prompt}"}, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PYTHONDONTWRITEBYTECODE=1"},
			})
			check(t, graph+" "+prompt, s.end(s.begin(t.Context(), prompt)), said[graph][prompt])
		}
	}
}

func TestAProgramGetsItsPromptAndNothingElse(t *testing.T) {
	t.Setenv("TRIBUTARY_SECRET", "hidden")
	const event = `{"event":"on_chat_model_stream","run_id":"r","data":{"chunk":{"type":"AIMessageChunk","content":"%s"}}}\n`
	const end = `{"event":"on_chain_end","name":"LangGraph","run_id":"g","data":{}}\n`
	const begin = `{"event":"on_chain_start","name":"LangGraph","run_id":"g","data":{}}\n`
	for name, c := range map[string]struct {
		script string
		args   []string
		body   string
		want   []string
	}{
		"on standard input":     {`read -r p; printf '` + begin + event + end + `' "$p"`, nil, ``, []string{"hello", "completed stop"}},
		"in an argument":        {`printf '` + begin + event + end + `' "$1 $2"`, []string{"ask={prompt}", "{session}"}, ``, []string{"ask=hello session-1", "completed stop"}},
		"by a template":         {`read -r p; [ "$p" = '{"q":"hello"}' ] && printf '` + begin + event + end + `' same`, nil, `{"body":{"q":"{{prompt}}"}}`, []string{"same", "completed stop"}},
		"as server-sent events": {`printf 'event: messages\r\ndata: [{"type":"ai","id":"m","content":"Hi."},{}]\r\n\r\n: ping\r\n\r\n'`, nil, ``, []string{"Hi.", "completed stop"}},
		"without a secret":      {`printf '` + begin + event + end + `' "$(env | grep -c SECRET)"`, nil, ``, []string{"0", "completed stop"}},
		"and fails":             {`printf '` + begin + event + `' so; echo "no key" >&2; exit 3`, nil, ``, []string{"so", "failed agent_lost The backend did not go on: the program failed (exit status 3: no key)"}},
		"and ends too early":    {`printf '` + begin + event + `' so`, nil, ``, []string{"so", "failed  The stream of events ended before the graph did."}},
	} {
		s := talks(t, "session-1", agent.Settings{Command: "bash", Args: append([]string{"-c", c.script, "bash"}, c.args...), Environ: []string{"PATH=" + os.Getenv("PATH")}, Options: json.RawMessage(c.body)})
		if got := s.says("hello"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := talks(t, "session-1", agent.Settings{Command: "no-such-program"}).says("hello"); !strings.Contains(got[0], "the program no-such-program was not found: install it, or correct command") {
		t.Errorf("%q", got)
	}
}
