package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

func TestSuite(t *testing.T) {
	var dir atomic.Value // of the newest session; some are opened side by side
	agenttest.Run(t, agenttest.Suite{
		Open: func(t testing.TB) agent.Runtime { return fakeRuntime(t, "plain") },
		Cut:  func(t testing.TB, c *agenttest.Cut) agent.Runtime { return fakeRuntime(t, "plain", c.Env()) },
		Config: func(t testing.TB) agent.Config {
			cwd := t.TempDir()
			dir.Store(cwd)
			return agent.Config{SessionID: "session", Cwd: cwd}
		},
		Decoder: func() agent.Decoder { return acp.NewDecoder(acp.Options{}) },
		Runs: agenttest.Leaves(func() string {
			return filepath.Join(dir.Load().(string), "touched") //nolint:forcetypeassert // a panic is a failure here
		}, `{"command":"touch x"}`),
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "tool", agenttest.Question: "ask",
			agenttest.Tell: "tell tulip", agenttest.Recall: "recall", agenttest.Die: "die", agenttest.Half: "half a line",
			agenttest.Garbage: "garbage", agenttest.Huge: "big", agenttest.Rich: "rich",
		},
		Word: "tulip", Turns: []string{"client fs/read_text_file {}", "client craft/unknown {}"}, Bound: time.Minute,
	})
}

// stage is a workspace with a session of the fake.
type stage struct {
	t    *testing.T
	dir  string
	host *agenttest.Host
	s    agent.Session
}

func newStage(t *testing.T, how, options string, setup ...func(*agenttest.Host)) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	host := agenttest.NewHost()
	host.Dir = files
	for _, f := range setup {
		f(host)
	}
	s := agenttest.Open(t, fakeRuntime(t, how), host, agent.Config{SessionID: "s", Cwd: dir, Options: json.RawMessage(options)})
	return &stage{t: t, dir: dir, host: host, s: s}
}

// says makes the host answer every permission request with an option of the kind.
func says(kind trace.OptionKind) func(*agenttest.Host) {
	return func(h *agenttest.Host) { h.OnPermit = agenttest.Choose(kind) }
}

// turn prompts and returns the events of the finished turn and what the agent said.
func (st *stage) turn(p agent.Prompt) ([]trace.Event, string, trace.Stop) {
	st.t.Helper()
	events, stop := agenttest.Turn(st.t, st.s, st.host, p)
	return events, strings.TrimSpace(agenttest.Said(events)), stop
}

func TestAnAgentThatCannotStartIsReportedInOneSentence(t *testing.T) {
	t.Parallel()
	mute := fakeRuntime(t, "mute")
	mute.StartTime = 300 * time.Millisecond
	missing := fakeRuntime(t, "plain")
	missing.Command = "no-such-agent"
	nothing := fakeRuntime(t, "plain")
	nothing.Command = ""
	agenttest.BadStarts(t, []agenttest.BadStart{
		{Runtime: missing, Want: "no-such-agent was not found: install it with `npm install -g fake`, or correct agents.fake.command"},
		{Runtime: nothing, Want: "there is no program to run: set command"},
		{Runtime: fakeRuntime(t, "crash at start"), Want: "it ended before it was ready: exit status 7: Error: the config file is broken"},
		{Runtime: fakeRuntime(t, "wrong arguments"), Want: "error: unknown option '--acp' — correct args"},
		{Runtime: mute, Want: "it did not answer within 300ms after its start"},
		{Runtime: fakeRuntime(t, "another protocol"), Want: "the program does not know the Agent Client Protocol: correct command and args"},
		{Runtime: fakeRuntime(t, "version 2"), Want: "it speaks version 2 of the Agent Client Protocol, and version 1 is needed: install a matching version"},
		{Runtime: fakeRuntime(t, "login"), Want: `Authentication required. Log in by running the agent once in a terminal, or give it a key in` + " `env`" + `. Its methods of logging in, for the option auth_method: "key" (API key); "browser" (Log in), by running the agent with` + " `login` in a terminal."},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"auth_method":"magic"}`)}, Want: `There is no method of logging in with the id "magic".`},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"mode":"yolo"}`)}, Want: "the mode yolo lets the agent act without asking"},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"config":{"mode":"yolo"}}`)}, Want: "the mode yolo lets the agent act without asking"},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"config":{"permissions":"bypassPermissions"}}`)}, Want: "the mode bypassPermissions lets the agent act without asking"},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"mode":"acceptEdits"}`)}, Want: "the mode acceptEdits lets the agent act without asking"},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"mode":"no-such"}`)}, Want: `it does not take the mode "no-such": there is no such value.`},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"config":{"speed":1}}`)}, Want: `it has no setting "speed": its settings are m`},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"mdoe":"plan"}`)}, Want: `options have the key "mdoe", which the adapter does not know: the keys are auth_method, mode,`},
		{Runtime: fakeRuntime(t, "plain"), Config: agent.Config{Options: json.RawMessage(`{"mcp_servers":[{"name":"x"}]}`)}, Want: "mcp_servers[0] needs a name, and either a command or a url"},
	})
}

func TestAnAgentIsLoggedInWithTheKeyOfItsEnvironment(t *testing.T) {
	t.Parallel()
	r := fakeRuntime(t, "login")
	r.Env = append(r.Env, "FAKE_KEY=x")
	s, err := r.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestASessionThatIsLostBeginsAgainAndSaysSo(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]int{"forgetful": 1, "plain": 0} {
		host := agenttest.NewHost()
		s, err := fakeRuntime(t, how).Open(t.Context(), host, agent.Config{Cwd: t.TempDir(), Resume: "fake-session"})
		if err != nil {
			t.Fatal(err)
		}
		st := &stage{t: t, host: host, s: s}
		for _, notices := range []int{want, 0} {
			events, said, _ := st.turn(agenttest.Prompt("hello"))
			lost := agenttest.Each[trace.Error](events)
			if len(lost) != notices || notices == 1 && lost[0].Code != "session_lost" {
				t.Errorf("%s: notices %+v", how, lost)
			}
			if strings.Contains(said, "the past") || len(agenttest.Each[trace.ToolCall](events)) > 0 {
				t.Errorf("%s: the history comes again: %s", how, said)
			}
		}
		if len(host.Begun()) > 0 {
			t.Errorf("%s: the past began a turn", how)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTurnsThatEndBadly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"die":         "Fake ended in the middle of the turn: exit status 139: Segmentation fault.",
		"half a line": "Fake ended in the middle of the turn: exit status 0.",
	} {
		st := newStage(t, "plain", "")
		for range 2 { // the second prompt starts the agent again
			_, _, stop := st.turn(agenttest.Prompt(text))
			if stop.Outcome != trace.OutcomeFailed || stop.Error != want {
				t.Errorf("%s: %+v", text, stop)
			}
		}
		if _, said, stop := st.turn(agenttest.Prompt("hello")); stop.Outcome != trace.OutcomeCompleted || said != "you said: hello" {
			t.Errorf("after %s: %q %+v", text, said, stop)
		}
	}
}

func TestAnAgentThatDoesNotStopIsEnded(t *testing.T) {
	t.Parallel()
	agenttest.StopsDeaf(t, fakeRuntime(t, "deaf"), "deaf")
}

func TestQuestionsBecomeTheFormThatTheAgentWants(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{"How many": {"3"}, "sure": {"Yes"}, "tags": {"The A", "The B"}, "": {"Done"}, "color": {"blue"}}
	st := newStage(t, "plain", "", func(h *agenttest.Host) {
		h.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
			return trace.Answer{QuestionID: q.QuestionID, Outcome: trace.Selected, Values: answers[q.Header], By: "tester"}
		}
	})
	for text, want := range map[string]string{
		"form": `{"action":"accept","content":{"count":3,"sure":true,"tags":["a","b"]}}`,
		"ask":  `{"action":"accept","content":{"color":"blue"}}`,
		"open": `{"action":"accept"}`,
	} {
		events, said, _ := st.turn(agenttest.Prompt(text))
		if said != want {
			t.Errorf("%s: the agent got %s", text, said)
		}
		for _, q := range agenttest.Each[trace.Question](events) {
			if text == "open" && !strings.Contains(q.Text, "https://example.com/login") {
				t.Errorf("the address is not in %q", q.Text)
			}
		}
	}
}

func TestAPromptHoldsPartsThatTheAgentAccepts(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	p := agenttest.Prompt("params")
	p.Message.Parts = append(p.Message.Parts,
		trace.InputPart{Type: trace.InputFile, URL: "data:image/png;base64,aGk=", MediaType: "image/png", Filename: "a.png"},
		trace.InputPart{Type: trace.InputFile, URL: "data:text/plain,some%20notes", Filename: "n.txt"},
		trace.InputPart{Type: trace.InputFile, URL: "data:application/zip;base64,UEs=", Filename: "z.zip"},
		trace.InputPart{Type: trace.InputFile, URL: "https://example.com/doc.pdf", MediaType: "application/pdf"},
		trace.InputPart{Type: trace.InputFile, URL: "data:audio/wav;base64,aGk=", Filename: "a.wav"},
	)
	_, said, _ := st.turn(p)
	for _, want := range []string{
		`{"data":"aGk=","mimeType":"image/png","type":"image"}`,
		`{"resource":{"mimeType":"text/plain","text":"some notes","uri":"attachment:///n.txt"},"type":"resource"}`,
		`{"resource":{"blob":"UEs=","mimeType":"application/zip","uri":"attachment:///z.zip"},"type":"resource"}`,
		`{"mimeType":"application/pdf","name":"doc.pdf","type":"resource_link","uri":"https://example.com/doc.pdf"}`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the agent got %s\nwithout %s", said, want)
		}
	}
}

// An agent would read an address on this machine, and a file that the prompt mentions,
// and ask nobody. A command of the agent's own could switch its requests off.
func TestAPromptReachesNoFileOutside(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	p := agenttest.Prompt("params see @/etc/passwd")
	for _, address := range []string{"file:///etc/passwd", "/etc/passwd", "FILE:///etc/passwd", "etc/passwd", ""} {
		p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, URL: address, MediaType: "text/plain", Filename: "x"})
	}
	if _, said, _ := st.turn(p); strings.Contains(said, "resource_link") || strings.Contains(said, "@/etc") || strings.Contains(said, ":///") {
		t.Errorf("the agent got %s", said)
	}
	if _, _, stop := st.turn(agenttest.Prompt("/allow-all on")); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "the gateway refuses it") {
		t.Errorf("it ended as %+v", stop)
	}
}

// TestFilesStayInTheWorkspace asks the client for files in many ways.
func TestFilesStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "", says(trace.AllowOnce))
	outside := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{outside: "a secret", filepath.Join(st.dir, "in.txt"): "one\ntwo\nthree\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": outside, "up": filepath.Dir(outside), "dangling": filepath.Join(filepath.Dir(outside), "new")} {
		if err := os.Symlink(to, filepath.Join(st.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(st.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(method string, params object) string {
		data, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		_, said, _ := st.turn(agenttest.Prompt("client " + method + " " + string(data)))
		return said
	}
	for _, path := range []string{
		outside, "/etc/passwd", st.dir + "/../secret", "../secret", st.dir + "/link", st.dir + "/up/secret", st.dir + "/dangling", st.dir + "/pipe",
		"", st.dir + "/a\x00b", "/proc/self/environ", "/dev/zero", "~/x/../../../../../../etc/passwd", st.dir, "file:///etc/passwd",
	} {
		if said := ask("fs/read_text_file", object{"path": path}); !strings.Contains(said, `"code"`) || strings.Contains(said, "secret\"") {
			t.Errorf("read %q: %s", path, said)
		}
		if path == "file:///etc/passwd" {
			continue // a name like any other, and such a file may be made
		}
		if said := ask("fs/write_text_file", object{"path": path, "content": "overwritten"}); !strings.Contains(said, `"code"`) {
			t.Errorf("write %q: %s", path, said)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "a secret" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
	in := st.dir + "/in.txt"
	for want, params := range map[string]object{
		`{"content":"one\ntwo\nthree\n"}`: {"path": in},
		`{"content":"two\n"}`:             {"path": in, "line": 2, "limit": 1},
		`{"content":"three\n"}`:           {"path": in, "line": 3},
		`{"content":""}`:                  {"path": in, "line": 30},
	} {
		if said := ask("fs/read_text_file", params); said != want {
			t.Errorf("read %v: %s", params, said)
		}
	}
	if err := os.WriteFile(st.dir+"/long.txt", []byte(strings.Repeat("a line of text\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 90_000} { // what is cut would be written back without its end
		if said := ask("fs/read_text_file", object{"path": st.dir + "/long.txt", "limit": limit}); !strings.Contains(said, "read it in smaller parts") {
			t.Errorf("a file of 1.5 MB with the limit of %d lines: %.200s", limit, said)
		}
	}
	if said := ask("fs/read_text_file", object{"path": st.dir + "/none"}); !strings.Contains(said, `"code":-32002`) || !strings.Contains(said, "Resource not found") {
		t.Errorf("a file that is not there: %s", said)
	}
}

// TestNothingIsWrittenOrRunWithoutApproval plays requests that no call covers.
func TestNothingIsWrittenOrRunWithoutApproval(t *testing.T) {
	t.Parallel()
	policy := permission.Policy{Rules: []permission.Rule{{Kinds: []trace.ToolKind{trace.ToolEdit}, Inside: true, Then: permission.Allow}}}
	for name, c := range map[string]struct {
		setup   func(*agenttest.Host)
		writes  bool
		runs    bool
		decided string
	}{
		"a person allows":   {says(trace.AllowOnce), true, true, ""},
		"a person refuses":  {says(trace.RejectOnce), false, false, ""},
		"nobody answers":    {func(*agenttest.Host) {}, false, false, ""},
		"the policy allows": {func(h *agenttest.Host) { h.Judge = judge(h, policy) }, true, false, "policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, "plain", "", c.setup)
			events, _, _ := st.turn(agenttest.Prompt(`client fs/write_text_file {"path":"` + st.dir + `/made.txt","content":"hi"}`))
			_, err := os.Stat(filepath.Join(st.dir, "made.txt"))
			if wrote := err == nil; wrote != c.writes {
				t.Errorf("it was written: %v", wrote)
			}
			asked, results := agenttest.Each[trace.PermissionRequest](events), agenttest.Each[trace.ToolResult](events)
			if len(asked) != 1 || asked[0].DecidedBy != c.decided || len(results) != 1 || (results[0].Status == trace.ToolCompleted) != c.writes {
				t.Errorf("requests %+v, results %+v", asked, results)
			}
			_, said, _ := st.turn(agenttest.Prompt(`client terminal/create {"command":"touch","args":["` + st.dir + `/ran.txt"]}`))
			if ran := strings.Contains(said, "terminalId"); ran != c.runs {
				t.Errorf("it ran: %v, %s", ran, said)
			}
		})
	}
}

func judge(h *agenttest.Host, p permission.Policy) func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
	return func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		return p.Decide(r, c, permission.Scope{Contains: h.Dir.Contains})
	}
}

func TestATerminalShowsItsOutputAndItsEnd(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "", says(trace.AllowOnce))
	_, said, _ := st.turn(agenttest.Prompt("run echo hello; exit 3"))
	if want := `{"exitCode":3,"signal":null} {"output":"hello\n","truncated":false,"exitStatus":{"exitCode":3,"signal":null}}`; !strings.HasPrefix(said, want) || !strings.Contains(said, "there is no terminal") {
		t.Errorf("it said %s", said)
	}
	_, said, _ = st.turn(agenttest.Prompt("run yes é | head -c 5000; env; pwd"))
	if !strings.Contains(said, `"truncated":true`) || strings.Contains(said, "\uFFFD") || strings.Contains(said, "HOME=") || !strings.Contains(said, "FAKE_ACP=plain") || !strings.Contains(said, st.dir) {
		t.Errorf("it said %s", said)
	}
}

func TestTerminalsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "", says(trace.AllowOnce))
	_, said, _ := st.turn(agenttest.Prompt(`client terminal/create {"command":"sh","args":["-c","sleep 300 & echo $! > pid; wait"]}`))
	if !strings.Contains(said, "terminalId") {
		t.Fatal(said)
	}
	var pid int
	for range 3000 {
		data, err := os.ReadFile(filepath.Join(st.dir, "pid"))
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := st.s.Close(); err != nil {
		t.Error(err)
	}
	for range 3000 {
		if out, err := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output(); err != nil || strings.HasPrefix(string(out), "Z") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d outlives its session", pid)
}

func TestATerminalRunsInTheWorkspaceOnly(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "", says(trace.AllowOnce))
	if err := os.Symlink("/", filepath.Join(st.dir, "root")); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{"/", "/etc", "..", st.dir + "/..", st.dir + "/root", st.dir + "/root/etc", st.dir + "/none"} {
		data, err := json.Marshal(object{"command": "pwd", "cwd": cwd})
		if err != nil {
			t.Fatal(err)
		}
		if _, said, _ := st.turn(agenttest.Prompt("client terminal/create " + string(data))); !strings.Contains(said, `"code"`) {
			t.Errorf("in %s: %s", cwd, said)
		}
	}
}

func TestTheModeAndTheModelOfARunningAgentChange(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", `{"mode":"plan"}`)
	controllable, ok := st.s.(agent.Controllable)
	if !ok {
		t.Fatal("the session has no controls")
	}
	c := controllable.Controls()
	if err := c.SetModel(t.Context(), "large"); err != nil {
		t.Error(err)
	}
	if err := c.SetMode(t.Context(), "ask"); err != nil {
		t.Error(err)
	}
	if err := c.SetMode(t.Context(), "yolo"); err == nil || !strings.Contains(err.Error(), "lets the agent act without asking") {
		t.Errorf("the loose mode: %v", err)
	}
	if err := c.SetModel(t.Context(), "no-such"); err == nil || !strings.Contains(err.Error(), "Its values are small, large.") {
		t.Errorf("a model that is not there: %v", err)
	}
}

func TestProbeNamesAMissingProgram(t *testing.T) {
	t.Parallel()
	preset, _ := acp.FindPreset("gemini")
	_, err := acp.Runtime{Preset: preset, Command: "no-such-gemini"}.Probe(t.Context())
	if err == nil || !strings.Contains(err.Error(), "install it with `npm install -g @google/gemini-cli`") {
		t.Errorf("Probe says %v", err)
	}
	version, err := acp.Runtime{Command: "bash", Env: []string{}}.Probe(t.Context())
	if err != nil || version == "" {
		t.Errorf("Probe says %q, %v", version, err)
	}
}
