package langgraph_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/trace"
)

// server is a real server of LangGraph, with the graphs of the tests.
type server struct {
	home      string   // its files, below test/conformance/langgraph
	files     []string // that it needs
	installed string   // the directory of its packages
	command   []string // to which a port is added
}

var (
	javaScript = server{".", []string{"package.json", "langgraph.json", "graphs.mjs", "model.mjs"}, "node_modules", []string{"node", "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs", "dev", "-n", "8", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port"}} //nolint:gochecknoglobals // never written
	python     = server{"python", []string{"langgraph.json", "graphs.py"}, "venv", []string{"venv/bin/langgraph", "dev", "--n-jobs-per-worker", "8", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port"}}                                                             //nolint:gochecknoglobals // as above
)

// installedAt is the directory of a server that is installed.
func (s server) installedAt(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a real server takes some seconds")
	}
	home, err := filepath.Abs(filepath.Join("../../test/conformance/langgraph", s.home))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(home, s.installed))
	installed.Needed(t, err == nil, "LangGraph's server is not installed: run make langgraph")
	return home
}

// start starts the server in a directory of its own, because it keeps its state there.
func (s server) start(t *testing.T) string {
	t.Helper()
	url, _ := s.startAgain(t)
	return url
}

// startAgain is start for a server that is killed and started again.
func (s server) startAgain(t *testing.T) (url string, again func()) {
	t.Helper()
	home, dir := s.installedAt(t), t.TempDir()
	for _, name := range append(s.files, s.installed) {
		if err := os.Symlink(filepath.Join(home, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	free := agenttest.ListenAlone(t)
	_, port, _ := strings.Cut(free.Addr().String(), ":")
	_ = free.Close()
	kill := s.run(t, dir, port)
	return "http://127.0.0.1:" + port, func() {
		kill()
		kill = s.run(t, dir, port)
	}
}

// run runs the server until the test ends or kills it.
func (s server) run(t *testing.T, dir, port string) (kill func()) {
	t.Helper()
	args := append(slices.Clone(s.command[1:]), port)
	cmd := exec.CommandContext(t.Context(), s.command[0], args...) //nolint:gosec // a server of the tests'
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LANGGRAPH_CLI_NO_ANALYTICS=1", "LANGSMITH_TRACING=false", "LANGCHAIN_TRACING_V2=false", "BROWSER=none")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	end := func() {
		once.Do(func() {
			_ = cmd.Wait() // ended by its context, or killed
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = log.Close()
		})
	}
	t.Cleanup(end)
	for range 300 {
		if ready(t.Context(), "http://127.0.0.1:"+port) {
			return func() {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				end()
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("the server does not start: %s", said)
	return nil
}

// ready reports whether the server answers.
func ready(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/ok", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	return res.StatusCode == http.StatusOK
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	t.Run("JavaScript", func(t *testing.T) {
		t.Parallel()
		testServer(t, javaScript.start(t), "the tool exploded")
	})
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		testServer(t, python.start(t), "RuntimeError('the tool exploded')")
	})
}

// TestAServerThatIsKilledInTheMiddleOfARun: LangGraph's development server keeps no runs, so
// the turn fails in one sentence, and the conversation goes on.
func TestAServerThatIsKilledInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	url, again := javaScript.startAgain(t)
	for range agenttest.Rounds(t, 1) {
		s := newStage(t, url, "agent")
		r, done := s.begin(t.Context(), "slow")
		s.speaking(r)
		again()
		got := lines(s.end(r, done))
		if len(got) != 2 || !strings.HasPrefix(strings.Join(wordsTo(40), " "), got[0]) || !strings.HasPrefix(got[1], "failed") || strings.Contains(got[1], "\n") {
			t.Errorf("%q", got)
		}
		t.Logf("%q", got[1])
		if got := s.says("hello"); !strings.HasSuffix(got[0], "hello") || got[1] != "completed stop" {
			t.Errorf("after that: %q", got)
		}
	}
}

// testServer plays everything that the graphs can do. The exploded tool has its error in the
// words of the server's language.
func testServer(t *testing.T, url, exploded string) {
	t.Helper()
	t.Run("what the agent does", func(t *testing.T) {
		t.Parallel()
		for prompt, want := range map[string][]string{
			"hello":    {"You said: hello", "completed stop"},
			"weather":  {"Let me look. ", `get_weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, "It is 21 degrees.", "completed stop"},
			"parallel": {`get_weather{"city":"Paris"}`, `wait_a_bit{"ms":30}`, `completed:{"city":"Paris","degrees":21}`, `completed:"waited 30"`, "Both are done.", "completed stop"},
			"broken":   {`explode{"why":"test"}`, "failed:Error: " + exploded + "\n Please fix your mistakes.null", "The tool failed.", "completed stop"},
			"cut":      {`get_weather{"city":"Par"}`, `completed:{"city":"Par","degrees":21}`, "It was cut.", "completed stop"},
			"fail":     {"I start, but ", "failed failed the model exploded"},
			"think":    {"(I should think. )", "So I answer.", "completed stop"},
			"reason":   {"(I reason. )", "So I answer.", "completed stop"},
			"deepseek": {"(Deep. )", "So I answer.", "completed stop"},
			"openai":   {"(Short. )", "So I answer.", "completed stop"},
			"cite":     {"As they say. ", "completed stop"},
			"big":      {"data: x\n\nevent: fake\n\u2028 日本語 😀 " + strings.Repeat("x", 250_000), "completed stop"},
		} {
			t.Run(prompt, func(t *testing.T) {
				t.Parallel()
				if got := newStage(t, url, "agent").says(prompt); !slices.Equal(got, want) {
					t.Errorf("says\n%q\nand should say\n%q", short(got), short(want))
				}
			})
		}
	})
	t.Run("a conversation is one thread", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, url, "agent")
		s.says("one")
		token := s.host.Token()
		if err := s.session.Close(); err != nil {
			t.Fatal(err)
		}
		s.open(agent.Config{SessionID: "s", Resume: token})
		if got := s.says("two"); got[0] != "You said: one / two" {
			t.Errorf("%q", got)
		}
		s.open(agent.Config{SessionID: "s", Resume: "00000000-0000-4000-8000-000000000000"})
		events := s.end(s.begin(t.Context(), "three"))
		if got := lines(events); got[0] != "You said: three" || len(agenttest.Each[trace.Error](events)) != 1 {
			t.Errorf("on a thread that is gone: %q", got)
		}
	})
	t.Run("going back", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, url, "agent")
		s.says("one")
		before := s.host.Token()
		s.says("two")
		after := s.host.Token()
		s.open(agent.Config{SessionID: "s", Resume: before})
		if got := s.says("three"); got[0] != "You said: one / three" {
			t.Errorf("%q", got)
		}
		s.open(agent.Config{SessionID: "s", Resume: s.host.Token()})
		if got := s.says("four"); got[0] != "You said: one / three / four" {
			t.Errorf("%q", got)
		}
		s.open(agent.Config{SessionID: "s", Resume: after})
		if got := s.says("five"); got[0] != "You said: one / two / five" {
			t.Errorf("%q", got)
		}
	})
	t.Run("speakers", func(t *testing.T) {
		t.Parallel()
		want := map[string][]string{
			"duo":    {"alice: Shall we plan the trip?", "bob: Paris it is.", "alice: I book the train.", "bob: I book the hotel."},
			"atonce": {"alice: I talk while you talk too.", "bob: And I do not wait for you."},
		}
		for graph, want := range want {
			s := newStage(t, url, graph)
			if got := speeches(s.end(s.begin(t.Context(), "go"))); !slices.Equal(got, want) {
				slices.Sort(got)
				if graph == "duo" || !slices.Equal(got, want) {
					t.Errorf("%s: %q", graph, got)
				}
			}
		}
	})
	t.Run("a graph in a graph", func(t *testing.T) {
		t.Parallel()
		got := newStage(t, url, "nested").says("weather")
		if want := []string{"Let me look. ", `get_weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, "It is 21 degrees.", "Here is the report.", "completed stop"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
	t.Run("approvals", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			kind   trace.OptionKind
			input  string
			prompt string
			want   []string
		}{
			"approve": {trace.AllowOnce, "", "mail", []string{"I will write. ", `send_mail{"to":"ann@example.test"}`, "approve call_m?", `completed:"sent to ann@example.test"`, "That was it.", "completed stop"}},
			"edit":    {trace.AllowOnce, `{"to":"eve@example.test"}`, "mail", []string{"I will write. ", `send_mail{"to":"ann@example.test"}`, "approve call_m?", `send_mail{"to":"eve@example.test"}`, `completed:"sent to eve@example.test"`, "That was it.", "completed stop"}},
			"reject":  {trace.RejectOnce, "", "mail", []string{"I will write. ", `send_mail{"to":"ann@example.test"}`, "approve call_m?", "denied:not nownull", "That was it.", "completed stop"}},
			"several": {trace.AllowOnce, "", "mails", []string{`send_mail{"to":"ann@example.test"}`, `send_mail{"to":"bob@example.test"}`, "approve call_m1?", "approve call_m2?", `completed:"sent to ann@example.test"`, `completed:"sent to bob@example.test"`, "That was it.", "completed stop"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, url, "approval")
				s.host.OnPermit = approve(c.kind, c.input)
				if got := s.says(c.prompt); !slices.Equal(got, c.want) {
					t.Errorf("says\n%q\nand should say\n%q", got, c.want)
				}
			})
		}
	})
	t.Run("questions", func(t *testing.T) {
		t.Parallel()
		for graph, c := range map[string]struct {
			prompt string
			want   []string
		}{
			"agent":  {"ask", []string{`ask_first{"to":"ann@example.test"}`, "Send to ann@example.test??", `completed:"sent to ann@example.test"`, "The tool: sent to ann@example.test", "completed stop"}},
			"two":    {"go", []string{"left??", "right??", `left "yes", right "yes"`, "completed stop"}},
			"paused": {"weather", []string{"Let me look. ", `get_weather{"city":"Paris"}`, "The graph has paused. Shall it go on??", `completed:{"city":"Paris","degrees":21}`, "It is 21 degrees.", "completed stop"}},
		} {
			t.Run(graph, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, url, graph)
				s.host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
					return trace.Answer{Outcome: trace.Selected, Values: []string{first(q, "yes")}, By: "ann"}
				}
				if got := s.says(c.prompt); !slices.Equal(got, c.want) {
					t.Errorf("says\n%q\nand should say\n%q", got, c.want)
				}
			})
		}
	})
	t.Run("data beside the messages", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, url, "custom")
		var got []string
		for _, d := range agenttest.Each[trace.Data](s.end(s.begin(t.Context(), "go"))) {
			got = append(got, fmt.Sprintf("%s %s %s %v", d.Name, d.ID, d.Value, d.Transient))
		}
		want := []string{
			`progress  {"type":"progress","value":1} true`, `progress p {"type":"progress","id":"p","value":2} false`, `custom  {"none":true} true`,
			`custom  {"value":"a text"} true`, `custom  {"value":[1,2]} true`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
	t.Run("streams that break off", func(t *testing.T) { t.Parallel(); testCuts(t, url) })
	t.Run("restarts in the middle of a message", func(t *testing.T) { t.Parallel(); testRestarts(t, url) })
	t.Run("a restart of the gateway while a person is asked", func(t *testing.T) { t.Parallel(); testWaits(t, url) })
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, url, "agent")
		ctx, stop := context.WithCancel(t.Context())
		r, done := s.begin(ctx, "slow")
		s.speaking(r)
		stop()
		got := lines(s.end(r, done))
		if len(got) != 2 || !strings.HasPrefix(got[1], "canceled") || strings.Contains(got[0], "w39") {
			t.Errorf("%q", got)
		}
		if got := s.says("hello"); !strings.HasPrefix(got[0], "You said: slow / hello") {
			t.Errorf("after a stop: %q", got)
		}
	})
}

// speeches are what each speaker says, in the order in which they began.
func speeches(events []trace.Event) []string {
	var order []string
	parts, next := map[string]string{}, ""
	said := map[string]string{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Data:
			if p.Name == "participant" && strings.Contains(string(p.Value), `"speaking"`) {
				_, who, _ := strings.Cut(string(p.Value), `"participant":"`)
				next, _, _ = strings.Cut(who, `"`)
			}
		case trace.MessageStart:
			parts[p.Part] = next
			order = append(order, p.Part)
		case trace.Message:
			said[p.Part] = p.Text
		}
	}
	for i, part := range order {
		order[i] = parts[part] + ": " + said[part]
	}
	return order
}

func short(all []string) []string {
	all = slices.Clone(all)
	for i, s := range all {
		all[i] = s[:min(len(s), 120)]
	}
	return all
}
